import type { EventNote, EventPort } from '../../src/events/index.ts';
import type { KubernetesObject } from '../../src/kernel/index.ts';

/** Notes in words what is told, at the moment in which it is. */
export class NotedEvents implements EventPort {
  readonly told: string[] = [];

  record({ kind, metadata }: KubernetesObject, { type, reason, message }: EventNote): void {
    this.told.push(`${kind} ${metadata.name} ${type} ${reason}: ${message}`);
  }
}
