import type { GroupVersionKind } from '../kernel/index.ts';
import type { StatusCause } from './api-errors.ts';

/** What a server said when it refused something. */
export interface Refusal {
  readonly message: string;
  readonly reason: string | undefined;
  readonly causes: readonly StatusCause[];
}

/** The sentence of the RBAC authorizer, which has not seen the body: it names who, verb and resource. */
const OF_AUTHORIZER =
  /^secrets(?: "[^"]*")? is forbidden: User "[^"]*" cannot [a-z]+ resource "secrets" in API group ""/;

/** How apply complains about a value: `failed to create typed patch object (shop/db; v1, Kind=Secret): .data.key: …`. */
const TYPED_PATCH = /^failed to create typed patch object \([^)]*\): (\.[^:]{1,256}): /;

/**
 * What of a refusal may become an error's message.
 *
 * Servers quote what they refuse: apply prints a value of the wrong type, an admission policy whatever its author put into
 * the message. Errors end in logs, conditions and events, where no value of a Secret may be. So of what is said about a
 * Secret only the reason and the paths of fields are passed on, and the words only if they are the authorizer's. Conflicts
 * between field managers keep theirs: they hold managers and paths.
 */
export function repeatable(refusal: Refusal, gvk: GroupVersionKind | undefined): Refusal {
  if (gvk?.kind !== 'Secret' || gvk.group !== '' || OF_AUTHORIZER.test(refusal.message)) return refusal;
  const { message, reason } = refusal;
  const causes = refusal.causes.map((cause) =>
    cause.reason === 'FieldManagerConflict' ? cause : { ...cause, message: 'not repeated' },
  );
  const paths = [TYPED_PATCH.exec(message)?.[1], ...causes.map(({ field }) => field)].filter(
    (path) => path !== undefined,
  );
  const where = paths.length === 0 ? '' : ` at ${paths.join(', ')}`;
  return { reason, causes, message: `${reason ?? 'refused'}${where} (what is said of a Secret is not repeated)` };
}
