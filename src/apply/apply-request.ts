import type { KubernetesObject } from '../kernel/index.ts';
import type { KubernetesClient, WriteContext } from '../kubernetes/index.ts';
import type { LeftField, TakenField } from './leaf-verdict.ts';
import type { FieldManagers } from './field-holders.ts';
import type { IgnoreRule } from './ignore-rules.ts';
import type { OwnerMark } from './ownership-mark.ts';

/** What shall be, what is, and under whose name. */
export interface ApplyRequest {
  readonly client: KubernetesClient;
  /** As rendered: without mark and hash. */
  readonly desired: KubernetesObject;
  /** From the informer. Absent there means: look, because the cache may be behind, or select by our label only. */
  readonly live: KubernetesObject | undefined;
  /** Whose object it is. Without an owner nothing is marked, and nothing counts as foreign. */
  readonly owner?: OwnerMark;
  /** What to do with an existing object that bears no mark. Default Fail. */
  readonly adoption?: 'Fail' | 'Adopt';
  /** Never: the object is created, and what exists is left as it is. Default Always. */
  readonly updates?: 'Always' | 'Never';
  /** Take every field from whoever holds it, but an autoscaler. */
  readonly force?: boolean;
  /** Fields that are others' by agreement. */
  readonly ignore?: readonly IgnoreRule[];
  /** Who is who among field managers. Default {@link FIELD_MANAGERS}. */
  readonly managers?: FieldManagers;
  /** Send every write with the resourceVersion of `live`: where that is what was just read. */
  readonly pinned?: boolean;
  readonly write: WriteContext;
}

/** An object that is there, as far as others let it be as it shall be. */
export interface AppliedOutcome {
  readonly result: 'created' | 'updated' | 'unchanged';
  readonly object: KubernetesObject;
  /** Fields that were not sent because others hold them. */
  readonly left: readonly LeftField[];
  /** Paths of fields that are ours, and whose value an admission plug-in makes another. */
  readonly rewritten: readonly string[];
  /** Fields that were given their value back. */
  readonly taken: readonly TakenField[];
  /** It is not what is wanted, because it is never updated. */
  readonly outdated?: boolean;
}

/** What came of an {@link ApplyRequest}. */
export type ApplyOutcome =
  | AppliedOutcome
  | { readonly result: 'foreign'; readonly message: string }
  /** Others hold what cannot be left to them. Nothing was sent. */
  | { readonly result: 'blocked'; readonly held: readonly LeftField[]; readonly message: string }
  /** It cannot be changed into what is wanted, and may be made anew: it is being deleted for that. */
  | { readonly result: 'recreating'; readonly message: string };
