/**
 * Seeded faults: proof that the tests of this folder can fail. Each is a change of the source that a person could make, and
 * names the test that must fail by it, and by an assertion. `npm run mutants` tries them all, in a copy of the project.
 *
 * @module
 */
import { controllerMutants } from './controllers.ts';
import { eventMutants } from './events.ts';
import { informerMutants } from './informers.ts';
import { kubernetesMutants } from './kubernetes.ts';
import { leadershipMutants } from './leadership.ts';
import type { Mutant } from './mutant.ts';
import { reflectorMutants } from './reflector.ts';

export type { Mutant } from './mutant.ts';

export const mutants: readonly Mutant[] = [
  ...kubernetesMutants,
  ...leadershipMutants,
  ...reflectorMutants,
  ...informerMutants,
  ...controllerMutants,
  ...eventMutants,
];
