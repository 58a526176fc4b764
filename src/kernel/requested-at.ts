import type { KubernetesObject } from './kubernetes-object.ts';

/** The annotation by which somebody asks for a look now: any new value does. Answered in `status.lastHandledReconcileAt`. */
const REQUESTED_AT_ANNOTATION = 'atoll.dev/requestedAt';

/** The last request to look at an object now, as its annotation has it. */
export function requestedAt({ metadata }: KubernetesObject): string | undefined {
  return metadata.annotations?.[REQUESTED_AT_ANNOTATION];
}
