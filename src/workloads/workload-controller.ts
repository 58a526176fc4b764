import { MANAGED_BY, MANAGED_BY_LABEL } from '../apply/index.ts';
import { ControllerBuilder } from '../controllers/index.ts';
import type { Workload } from './workload.ts';

/** Children are watched by the label that every one of them bears: a member's other objects stay out of memory. */
const CHILD_SCOPE = { labelSelector: `${MANAGED_BY_LABEL}=${MANAGED_BY}` };

/** What makes a workload's reconciler run in a cluster: its objects themselves, and their children. */
export function workloadController({ kind, children }: Workload): ControllerBuilder {
  return children.reduce(
    (controller, child) => controller.owns(child, { scope: CHILD_SCOPE }),
    ControllerBuilder.for(kind.gvk),
  );
}
