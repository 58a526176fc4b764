import { UnsendableError } from './unsendable-error.ts';

/** Who a write is made as: Atoll itself, or a service account of the target cluster that Atoll impersonates. */
export type Identity =
  { readonly kind: 'self' } | { readonly kind: 'serviceAccount'; readonly namespace: string; readonly name: string };

/** What every write must bring. */
export interface WriteContext {
  readonly identity: Identity;
  readonly fieldManager: string;
  /** Called synchronously right before each sending, repetitions included. Throwing (LeaseLostError) prevents it. */
  readonly guard: () => void;
  /** Gives up waiting. A request that is already under way may still be carried out by the server. */
  readonly signal?: AbortSignal;
}

/** Atoll itself, with its own rights. */
export const SELF: Identity = { kind: 'self' };

/** A write as a field manager, under a run's guard and signal; as Atoll itself when nobody else is named. */
export function writeAs(
  fieldManager: string,
  { guard, signal }: Pick<WriteContext, 'guard' | 'signal'>,
  identity: Identity = SELF,
): WriteContext {
  return { identity, fieldManager, guard, ...(signal !== undefined && { signal }) };
}

const NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/**
 * The headers that make the API server act as this identity.
 *
 * @throws UnsendableError when a part is empty or no name: an API server reads an empty Impersonate-User as "no
 * impersonation" and would run the request with Atoll's own rights.
 */
export function impersonationHeaders(identity: Identity): Record<string, string> {
  if (identity.kind === 'self') return {};
  const { namespace, name } = identity;
  if (!NAME.test(namespace) || !NAME.test(name)) {
    throw new UnsendableError(
      `cannot impersonate service account ${JSON.stringify(`${namespace}/${name}`)}: both parts must be DNS names`,
    );
  }
  return { 'Impersonate-User': `system:serviceaccount:${namespace}:${name}` };
}
