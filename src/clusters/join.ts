import { memberClusterKind } from '../api/index.ts';
import type { MemberCluster } from '../api/index.ts';
import { applyObject } from '../apply/index.ts';
import { AtollError, errorMessage } from '../kernel/index.ts';
import type { KubernetesObject, PolicyRule } from '../kernel/index.ts';
import { CORE, formatKubeconfig, parseKubeconfig, referenceOf, writeAs } from '../kubernetes/index.ts';
import type { Connection, KubernetesClient, WriteContext } from '../kubernetes/index.ts';
import { fenceObjects, fenceParameter, fenceReference } from './fence.ts';
import { accountIn } from './member-account.ts';

/** 30 days, in seconds: long enough for a weekend's outage, short enough not to be forgotten. */
const TOKEN_LIFETIME = 30 * 24 * 3600;

/** A cluster could not be joined: the message begins with the cluster that it is about, the hub or the member. */
class JoinError extends AtollError {
  override name = 'JoinError';
}

/** Who joins what, with which rights. */
export interface JoinRequest {
  readonly hub: KubernetesClient;
  /** The member, with rights to create roles in it. */
  readonly member: KubernetesClient;
  /** Address and CA of the member as Atoll shall use them; its own credentials are made here. */
  readonly connection: Connection;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Atoll's namespace, on the hub and in the member. */
  readonly namespace: string;
  /** What Atoll may do in the member. */
  readonly rules: readonly PolicyRule[];
  /** What a namespace of the member may grant to Atoll besides, by a RoleBinding to the ClusterRole `atoll-tenant`. */
  readonly tenantRules: readonly PolicyRule[];
  /** Puts the fence up, or takes it away; undefined leaves it as it is. */
  readonly fence?: boolean | undefined;
  readonly progress: (line: string) => void;
}

/**
 * Makes a cluster a member: a service account with a role of exactly `rules` in it, a bound token of 30 days
 * (TokenRequest), the kubeconfig as a Secret on the hub, and the MemberCluster. Doing it again renews the token, brings
 * role and labels to what is given now, and changes nothing else.
 *
 * Nothing is touched in the member before the hub said in a dry run that it would take the result, and nothing on the hub
 * before the member is prepared.
 * @throws KubeconfigError when Atoll would not take the connection
 * @throws JoinError when the hub or the member refuses or does not answer, or the cluster is a member under another name
 */
export async function joinCluster(request: JoinRequest): Promise<void> {
  const write = writeAs('atoll-join', { guard: () => undefined });
  parseKubeconfig(formatKubeconfig(request.name, request.connection, 'token'));
  const members = await inCluster('hub', () => rehearse(request, write));
  const token = await inCluster(request.name, () => prepare(request, members, write));
  await inCluster('hub', () => enrol(request, token, write));
}

/** Says in whose part an error arose, which the error of a request does not know. */
async function inCluster<T>(cluster: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new JoinError(`${cluster}: ${errorMessage(error)}`, { cause: error });
  }
}

/**
 * Asks whether the hub would take what comes last: names, labels, namespace, kinds and rights are as they must be.
 * @returns the members that there are
 */
async function rehearse(request: JoinRequest, write: WriteContext): Promise<readonly MemberCluster[]> {
  for (const object of hubObjects(request, 'token').toReversed()) {
    await request.hub.apply(object, write, { force: true, dryRun: true });
  }
  return (await request.hub.list(memberClusterKind.gvk)).items as MemberCluster[];
}

/** @returns the token of Atoll's service account in the member */
async function prepare(request: JoinRequest, members: readonly MemberCluster[], write: WriteContext): Promise<string> {
  await refuseSecondName(request, members);
  for (const object of memberObjects(request)) {
    await bring(request.member, object, write);
    request.progress(`${request.name}: ${object.kind} ${object.metadata.name ?? ''}`);
  }
  if (request.fence === true) await putUpFence(request, write);
  if (request.fence === false) await takeFenceAway(request, write);
  const token = await requestToken(request, write);
  request.progress(`${request.name}: token of ${TOKEN_LIFETIME / 86_400} days`);
  return token;
}

async function enrol(request: JoinRequest, token: string, write: WriteContext): Promise<void> {
  for (const object of hubObjects(request, token)) {
    await bring(request.hub, object, write);
    request.progress(`hub: ${object.kind} ${object.metadata.name ?? ''}`);
  }
}

/** Under two names, one cluster would be worked by two workers that know nothing of each other. */
async function refuseSecondName({ member, name }: JoinRequest, members: readonly MemberCluster[]): Promise<void> {
  const uid = (await member.get({ gvk: CORE.Namespace, name: 'kube-system' }))?.metadata.uid;
  const others = members.filter(({ metadata }) => metadata.name !== name);
  const same = others.find(({ status }) => status?.uid !== undefined && status.uid === uid);
  if (same === undefined) return;
  throw new AtollError(
    `is a member already, as ${same.metadata.name ?? ''}: delete that MemberCluster to give the cluster another name`,
  );
}

/** The epoch stays as it is where there is one: a lower one would let a former owner write. */
async function putUpFence(request: JoinRequest, write: WriteContext): Promise<void> {
  const { member, name, namespace } = request;
  if ((await member.get(fenceReference(namespace))) === undefined)
    await member.create(fenceParameter(namespace), write);
  for (const object of fenceObjects(accountIn(namespace))) {
    await bring(member, object, write);
    request.progress(`${name}: ${object.kind} ${object.metadata.name ?? ''}`);
  }
}

/** The policy first: without its parameter or its roles, it would refuse everything. */
async function takeFenceAway(request: JoinRequest, write: WriteContext): Promise<void> {
  const { member, name, namespace } = request;
  const objects = [fenceParameter(namespace), ...fenceObjects(accountIn(namespace))].toReversed();
  for (const object of objects) {
    const live = await member.get(referenceOf(object));
    if (live?.metadata.uid === undefined) continue;
    await member.delete(referenceOf(object), { uid: live.metadata.uid }, write);
    request.progress(`${name}: ${object.kind} ${object.metadata.name ?? ''} deleted`);
  }
}

async function bring(client: KubernetesClient, desired: KubernetesObject, write: WriteContext): Promise<void> {
  const live = await client.get(referenceOf(desired));
  const outcome = await applyObject({ client, desired, live, adoption: 'Adopt', force: true, write });
  if (!('object' in outcome)) throw new AtollError(outcome.message);
}

function memberObjects(request: JoinRequest): KubernetesObject[] {
  const { name: account } = accountIn(request.namespace);
  const role = `${account}-member`;
  const labels = { 'app.kubernetes.io/part-of': 'atoll' };
  const rbac = 'rbac.authorization.k8s.io';
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: request.namespace, labels } },
    {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: account, namespace: request.namespace, labels },
      automountServiceAccountToken: false,
    },
    { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: { name: role, labels }, rules: request.rules },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRole',
      metadata: { name: 'atoll-tenant', labels },
      rules: request.tenantRules,
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: role, labels },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'ServiceAccount', name: account, namespace: request.namespace }],
    },
  ];
}

async function requestToken(request: JoinRequest, write: WriteContext): Promise<string> {
  const reference = {
    gvk: { group: '', version: 'v1', kind: 'ServiceAccount' },
    ...accountIn(request.namespace),
  };
  const body = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: TOKEN_LIFETIME },
  };
  const answer = await request.member.createSubresource(reference, 'token', body, write);
  const token = (answer['status'] as { token?: string } | undefined)?.token;
  if (token === undefined) throw new AtollError('no token was issued for the service account');
  return token;
}

function hubObjects(request: JoinRequest, token: string): KubernetesObject[] {
  const secret = `member-${request.name}`;
  const kubeconfig = Buffer.from(formatKubeconfig(request.name, request.connection, token)).toString('base64');
  return [
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: secret, namespace: request.namespace, labels: { 'app.kubernetes.io/part-of': 'atoll' } },
      type: 'Opaque',
      data: { kubeconfig },
    },
    {
      apiVersion: 'federation.atoll.dev/v1',
      kind: 'MemberCluster',
      metadata: { name: request.name, labels: request.labels },
      spec: { connection: { kubeconfigSecretRef: { name: secret } } },
    },
  ];
}
