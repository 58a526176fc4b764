/**
 * The names of the upstream tests whose behaviour is wanted, each with what became of it: covered by a test of this folder
 * that bears its name, covered by a test elsewhere, or skipped for a reason. `checklist.test.ts` holds names and tests
 * together, in both directions.
 *
 * Workqueue and field ownership have their tests in their rooms (`src/workqueue`, `src/apply`) and in `test/component`.
 *
 * @module
 */
import { beyondClientGo } from './beyond-client-go.ts';
import { clientGoInformers } from './client-go-informers.ts';
import { clientGoLeaderElection } from './client-go-leaderelection.ts';
import { clientGoRecord } from './client-go-record.ts';
import { clientGoReflector } from './client-go-reflector.ts';
import { clientGoWorkqueue, controllerRuntimePriorityQueue } from './client-go-workqueue.ts';
import { controllerRuntimeBuilder } from './controller-runtime-builder.ts';
import { controllerRuntimeControllers } from './controller-runtime-controllers.ts';
import { controllerRuntimeUtilities } from './controller-runtime-controllerutil.ts';
import { controllerRuntimeHandlers } from './controller-runtime-handlers.ts';
import type { Verdict } from './verdict.ts';

export { COVERED } from './verdict.ts';
export type { Verdict } from './verdict.ts';

const checklists = [
  clientGoReflector,
  clientGoInformers,
  clientGoLeaderElection,
  clientGoRecord,
  clientGoWorkqueue,
  controllerRuntimePriorityQueue,
  controllerRuntimeControllers,
  controllerRuntimeBuilder,
  controllerRuntimeHandlers,
  controllerRuntimeUtilities,
  beyondClientGo,
];

/** All names with their verdicts. */
export const checklist: ReadonlyMap<string, Verdict> = new Map(
  checklists.flatMap((files) => Object.values(files).flatMap((names) => Object.entries(names))),
);
