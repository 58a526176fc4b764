import { AtollError } from '../kernel/index.ts';
import type { KubernetesObject, PolicyRule } from '../kernel/index.ts';
import { CORE, ForbiddenError, writeAs } from '../kubernetes/index.ts';
import type { KubernetesClient, ObjectReference, WriteContext } from '../kubernetes/index.ts';
import type { MemberAccount } from './member-account.ts';

/** Of what stands in Atoll's namespace: the parameter and a role. */
const FENCE = 'atoll-fence';

const RBAC = 'rbac.authorization.k8s.io';
const ADMISSION = 'admissionregistration.k8s.io';
/** What admission sees at all; a CONNECT opens a way into a pod (exec, port-forward), where it may change as much as a write. */
const OPERATIONS = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'];
const labels = { 'app.kubernetes.io/part-of': 'atoll' };

/** The member has been taken over by a later tenure: this replica's time with it is over, though it may not know yet. */
export class FencedOffError extends AtollError {
  override name = 'FencedOffError';
}

/** Of what has no namespace. Atolls in several namespaces of one member have a fence each. */
function clusterWideName(namespace: string): string {
  return `${FENCE}-${namespace}`;
}

/**
 * Under which a write says in which tenure it was made: an extra of the user that it impersonates. Epochs of several Atolls
 * are not comparable, so that each has its own.
 */
function epochExtra(namespace: string): string {
  return `${namespace}.atoll.dev/epoch`;
}

/** What this replica's tenure with the member is. */
export interface FenceRequest {
  readonly client: KubernetesClient;
  readonly account: MemberAccount;
  readonly epoch: number;
  /** The run that writes. */
  readonly run: Pick<WriteContext, 'guard' | 'signal'>;
}

/**
 * Raises the member's fence, where it has one, to the epoch of this tenure, by compare-and-swap; from then on every write of the
 * client bears the epoch, and the member's API server refuses those with a lower one. To be called before the first other
 * write, and now and then again, because a fence can be put up and taken away at any time. Writes only when the epoch rises.
 *
 * @returns whether the member has a fence. One that this account may not read counts as none: where there is a policy all the
 *   same, it refuses the writes that bear no epoch
 * @throws FencedOffError when a later tenure has raised it further
 * @throws ConflictError when somebody else changes it at the same time
 */
export async function raiseFence({ client, account, epoch, run }: FenceRequest): Promise<boolean> {
  const live = await readFence(client, account.namespace);
  if (live === undefined) {
    client.stampWrites(undefined);
    return false;
  }
  client.stampWrites({ account, extra: { [epochExtra(account.namespace)]: String(epoch) } });
  const recorded = epochOf(live);
  if (recorded > epoch) {
    throw new FencedOffError(
      `the member is fenced at epoch ${recorded}: a replica of epoch ${epoch} may not write there`,
    );
  }
  if (recorded < epoch) await client.update({ ...live, data: { epoch: String(epoch) } }, writeAs(FENCE, run));
  return true;
}

async function readFence(client: KubernetesClient, namespace: string): Promise<KubernetesObject | undefined> {
  try {
    return await client.get(fenceReference(namespace));
  } catch (error) {
    if (error instanceof ForbiddenError) return undefined;
    throw error;
  }
}

/** 0 for what is no number: then anybody may raise it. The policy refuses every write until somebody did. */
function epochOf(fence: KubernetesObject): number {
  const epoch = Number((fence['data'] as Readonly<Record<string, string>> | undefined)?.['epoch']);
  return Number.isSafeInteger(epoch) ? epoch : 0;
}

/** Where the epoch stands. */
export function fenceReference(namespace: string): ObjectReference {
  return { gvk: CORE.ConfigMap, namespace, name: FENCE };
}

/** The parameter as it is made: every epoch is higher. */
export function fenceParameter(namespace: string): KubernetesObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: FENCE, namespace, labels }, data: { epoch: '0' } };
}

/** A member's fence, in the order in which it is put up: what Atoll needs to bear an epoch, then the policy that demands it. */
export function fenceObjects(account: MemberAccount): readonly KubernetesObject[] {
  return [...rightsOf(account), policyOf(account), bindingOf(account)];
}

/** To raise the parameter, and to impersonate itself with an extra. */
function rightsOf({ namespace, name }: MemberAccount): readonly KubernetesObject[] {
  const apiVersion = `${RBAC}/v1`;
  const subjects = [{ kind: 'ServiceAccount', name, namespace }];
  const inNamespace: readonly PolicyRule[] = [
    { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'update'], resourceNames: [FENCE] },
    { apiGroups: [''], resources: ['serviceaccounts'], verbs: ['impersonate'], resourceNames: [name] },
  ];
  const everywhere: readonly PolicyRule[] = [
    {
      apiGroups: ['authentication.k8s.io'],
      resources: [`userextras/${epochExtra(namespace)}`],
      verbs: ['impersonate'],
    },
  ];
  const inside = { name: FENCE, namespace, labels };
  const outside = { name: clusterWideName(namespace), labels };
  return [
    { apiVersion, kind: 'Role', metadata: inside, rules: inNamespace },
    { apiVersion, kind: 'RoleBinding', metadata: inside, roleRef: roleRef('Role', inside.name), subjects },
    { apiVersion, kind: 'ClusterRole', metadata: outside, rules: everywhere },
    {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata: outside,
      roleRef: roleRef('ClusterRole', outside.name),
      subjects,
    },
  ];
}

function roleRef(kind: 'Role' | 'ClusterRole', name: string): Readonly<Record<string, string>> {
  return { apiGroup: RBAC, kind, name };
}

/**
 * The policy (https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/) looks at every request of
 * {@link OPERATIONS}, to subresources too, that Atoll's account makes or that bears an epoch: a tenant's account that Atoll
 * impersonates bears one, the same account by itself does not and is not Atoll's business.
 */
function policyOf({ namespace, name }: MemberAccount): KubernetesObject {
  const extra = epochExtra(namespace);
  const bears = `has(request.userInfo.extra) && '${extra}' in request.userInfo.extra`;
  return {
    apiVersion: `${ADMISSION}/v1`,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: clusterWideName(namespace), labels },
    spec: {
      failurePolicy: 'Fail',
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      matchConstraints: {
        matchPolicy: 'Exact',
        resourceRules: [{ apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'], operations: OPERATIONS }],
      },
      matchConditions: [
        {
          name: 'by-atoll',
          expression: `request.userInfo.username == 'system:serviceaccount:${namespace}:${name}' || (${bears})`,
        },
      ],
      validations: [
        {
          expression: `${bears} && int(request.userInfo.extra['${extra}'][0]) >= int(params.data.epoch)`,
          message: 'the write bears no epoch, or an older one than the fence: another replica works this cluster now',
          reason: 'Forbidden',
        },
      ],
    },
  };
}

/**
 * Without its parameter the policy says nothing. `Deny` would say no to everybody in the cluster, whatever the match conditions:
 * API servers look for the parameter first (seen on v1.37), and nobody could bring it back.
 */
function bindingOf({ namespace }: MemberAccount): KubernetesObject {
  return {
    apiVersion: `${ADMISSION}/v1`,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: clusterWideName(namespace), labels },
    spec: {
      policyName: clusterWideName(namespace),
      paramRef: { name: FENCE, namespace, parameterNotFoundAction: 'Allow' },
      validationActions: ['Deny'],
    },
  };
}
