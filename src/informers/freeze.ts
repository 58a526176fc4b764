import type { KubernetesObject } from '../kernel/index.ts';

/** Freezes an object and its metadata: enough against most mistakes, and free. */
export function freeze(object: KubernetesObject): void {
  Object.freeze(object.metadata);
  Object.freeze(object);
}

/** Freezes an object and all its parts: whoever changes anything of it gets a TypeError. client-go: mutation detector. */
export function freezeDeeply(object: KubernetesObject): void {
  // Not recursive: how deep an object is, is up to who sent it.
  const open: unknown[] = [object];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null) continue;
    Object.freeze(next);
    for (const part of Object.values(next)) open.push(part);
  }
}
