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

/** What every write of a client bears besides, for the server's admission to judge by. */
export interface WriteStamp {
  /** The client's own account: a write as itself impersonates it, because only who impersonates can add to a user. */
  readonly account: { readonly namespace: string; readonly name: string };
  /** Extras of the user (authentication/v1 UserInfo), by key. */
  readonly extra: Readonly<Record<string, string>>;
}

const NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/**
 * The headers that make the API server act as this identity, and under a stamp
 * (https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation).
 *
 * @throws UnsendableError when a part is empty or no name: an API server reads an empty Impersonate-User as "no
 * impersonation" and would run the request with Atoll's own rights.
 */
export function impersonationHeaders(identity: Identity, stamp?: WriteStamp): Record<string, string> {
  const account = identity.kind === 'self' ? stamp?.account : identity;
  if (account === undefined) return {};
  const { namespace, name } = account;
  if (!NAME.test(namespace) || !NAME.test(name)) {
    throw new UnsendableError(
      `cannot impersonate service account ${JSON.stringify(`${namespace}/${name}`)}: both parts must be DNS names`,
    );
  }
  return { 'Impersonate-User': `system:serviceaccount:${namespace}:${name}`, ...extraHeaders(stamp?.extra ?? {}) };
}

/** The key of an extra is part of the header's name: there it is percent-encoded, and lower case. */
function extraHeaders(extra: WriteStamp['extra']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(extra).map(([key, value]) => [`Impersonate-Extra-${encodeURIComponent(key).toLowerCase()}`, value]),
  );
}
