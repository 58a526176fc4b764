import type { RedisCluster } from '../../api/index.ts';
import type { KubernetesObject } from '../../kernel/index.ts';
import { CONFIGURATION_DIRECTORY, DATA_DIRECTORY } from './configuration.ts';
import { namesOf } from './names.ts';

/** Label of the pod template from which the version that runs is read back. */
export const VERSION_LABEL = 'app.kubernetes.io/version';
/** Annotation of the pod template: pods roll when the configuration changes. */
const CONFIG_HASH_ANNOTATION = 'atoll.dev/config-hash';

/** User and group of the official images. */
const REDIS_USER = 999;

/** What the StatefulSet shares with its siblings. */
export interface StatefulSetParts {
  readonly metadata: KubernetesObject['metadata'];
  readonly selector: Readonly<Record<string, string>>;
  readonly configHash: string;
}

/** The pods and their volumes. Pods are replaced from the last to the first, the master's own last. */
export function renderStatefulSet(cluster: RedisCluster, parts: StatefulSetParts): KubernetesObject {
  const { replicas, storage } = cluster.spec;
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: parts.metadata,
    spec: {
      replicas,
      serviceName: namesOf(cluster).headlessService,
      selector: { matchLabels: parts.selector },
      template: renderPodTemplate(cluster, parts),
      volumeClaimTemplates: [renderVolumeClaim(cluster, parts.selector)],
      // A replica that was scaled away may come back to its data; its master brings it up to date.
      persistentVolumeClaimRetentionPolicy: { whenDeleted: storage.onDelete, whenScaled: 'Retain' },
    },
  };
}

function renderPodTemplate(cluster: RedisCluster, { metadata, configHash }: StatefulSetParts): Record<string, unknown> {
  const names = namesOf(cluster);
  return {
    metadata: {
      labels: { ...metadata.labels, [VERSION_LABEL]: cluster.spec.version },
      annotations: { [CONFIG_HASH_ANNOTATION]: configHash },
    },
    spec: {
      serviceAccountName: names.serviceAccount,
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 30,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: REDIS_USER,
        runAsGroup: REDIS_USER,
        fsGroup: REDIS_USER,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [renderContainer(cluster)],
      volumes: [{ name: 'config', configMap: { name: names.configMap } }],
    },
  };
}

function renderContainer({ spec }: RedisCluster): Record<string, unknown> {
  return {
    name: 'redis',
    image: spec.image ?? `redis:${spec.version}`,
    command: ['sh', `${CONFIGURATION_DIRECTORY}/start.sh`],
    ports: [{ name: 'redis', containerPort: 6379, protocol: 'TCP' }],
    ...(spec.resources === undefined ? {} : { resources: spec.resources }),
    readinessProbe: {
      exec: { command: ['sh', '-c', '[ "$(redis-cli ping)" = PONG ]'] },
      periodSeconds: 5,
      timeoutSeconds: 3,
    },
    // Reading a large data set back takes its time, during which the port answers but no command does.
    livenessProbe: { tcpSocket: { port: 'redis' }, initialDelaySeconds: 10, periodSeconds: 10, failureThreshold: 6 },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [
      { name: 'data', mountPath: DATA_DIRECTORY },
      { name: 'config', mountPath: CONFIGURATION_DIRECTORY, readOnly: true },
    ],
  };
}

function renderVolumeClaim(
  { spec: { storage } }: RedisCluster,
  labels: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const { size, storageClassName } = storage;
  return {
    // Written out because the API server fills them in, and an atomic list is compared as a whole.
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data', labels },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: size } },
      ...(storageClassName === undefined ? {} : { storageClassName }),
    },
  };
}
