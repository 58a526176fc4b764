import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { z } from 'zod';
import { AtollError, errorMessage } from '../kernel/index.ts';

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** "1500ms", "10s", "2m", "1h": a Go duration of one unit, in milliseconds. */
const duration = z
  .string()
  .regex(/^\d+(ms|s|m|h)$/, 'must be a duration such as 500ms, 10s or 2m')
  .transform((text) => Number.parseInt(text, 10) * (units[text.replace(/^\d+/, '')] ?? Number.NaN));

const flag = z.enum(['true', 'false']).transform((text) => text === 'true');
/** `kubectl,kubectl-*`: names by commas, each as it is or with a star at one end. */
const names = z
  .string()
  .regex(/^\*?[^\s,*]+\*?(,\*?[^\s,*]+\*?)*$/, 'must be names by commas, such as kubectl,kubectl-*')
  .transform((text) => text.split(','));
const port = z.coerce.number().int().min(0).max(65_535);

const environmentSchema = z.object({
  ATOLL_NAMESPACE: z.string().min(1).default('atoll-system').describe("Atoll's namespace on the hub"),
  ATOLL_INSTALLATION_ID: z
    .string()
    .regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, 'must be a DNS label')
    .optional()
    .describe('Whose objects are ours in the members; kept on the hub once set'),
  ATOLL_HUB_KUBECONFIG: z.string().min(1).optional().describe("The hub's kubeconfig file; in-cluster when not set"),
  KUBERNETES_SERVICE_HOST: z.string().optional().describe('Set by Kubernetes in a pod: the API server of its cluster'),
  KUBERNETES_SERVICE_PORT: z.string().optional().describe('Set by Kubernetes in a pod'),
  ATOLL_REDIS_URL: z.url({ protocol: /^rediss?$/ }).describe('redis:// or rediss://, with its password'),
  ATOLL_REDIS_ALLOW_NO_PASSWORD: flag.default(false).describe('Development only: take a Redis without a password'),
  ATOLL_REDIS_MODE: z
    .enum(['standalone', 'sentinel', 'cluster'])
    .default('standalone')
    .describe('One server; a master that Sentinels name; or a Redis Cluster. ATOLL_REDIS_URL names one of the nodes'),
  ATOLL_REDIS_NODES: z
    .string()
    .regex(/^[^\s,@/]+(,[^\s,@/]+)*$/, 'must be host:port, further ones separated by commas')
    .optional()
    .describe('Further Sentinels or nodes of the Cluster, host:port, separated by commas'),
  ATOLL_REDIS_SENTINEL_MASTER: z
    .string()
    .min(1)
    .default('mymaster')
    .describe('Name of the master that Sentinels watch'),
  ATOLL_REDIS_SENTINEL_PASSWORD: z.string().min(1).optional().describe('What the Sentinels themselves ask for'),
  ATOLL_REDIS_CA_FILE: z.string().min(1).optional().describe('PEM file: whom to trust with a rediss:// URL'),
  ATOLL_REDIS_CERT_FILE: z.string().min(1).optional().describe('PEM file: client certificate for a rediss:// URL'),
  ATOLL_REDIS_KEY_FILE: z.string().min(1).optional().describe('PEM file: key of that certificate'),
  ATOLL_REDIS_PREFIX: z
    .string()
    .regex(/^[\w.-]+$/)
    .default('atoll')
    .describe('Prefix of every Redis key'),
  ATOLL_REPLICA: z.string().min(1).default(hostname()).describe('Name of this replica, as shown in Leases'),
  ATOLL_BIND_ADDRESS: z.string().min(1).default('0.0.0.0').describe('Address of the health and metrics port'),
  ATOLL_HEALTH_PORT: port.default(8080).describe('Port of /livez, /readyz and /metrics'),
  ATOLL_PROFILING_PORT: port.default(6060).describe('Port of profiles, at 127.0.0.1 only; 0 takes a free one'),
  ATOLL_LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error']).default('info').describe('Least level that is logged'),
  ATOLL_LEASE_DURATION: duration.prefault('15s').describe("How long a replica's lease lasts without renewal"),
  ATOLL_LEASE_RENEW_DEADLINE: duration
    .prefault('10s')
    .describe('A replica that could not renew for so long stops writing'),
  ATOLL_LEASE_RETRY_PERIOD: duration.prefault('2s').describe('Time between renewals'),
  ATOLL_CONCURRENCY: z.coerce.number().int().min(1).max(64).default(4).describe('Keys worked on at once per shard'),
  ATOLL_MAX_CONCURRENCY: z.coerce
    .number()
    .int()
    .min(1)
    .max(1024)
    .default(64)
    .describe('Keys worked on at once per replica; a shard with nothing under way may always begin one'),
  ATOLL_RETRIES_PER_SECOND: z.coerce
    .number()
    .min(0)
    .max(10_000)
    .default(0)
    .describe(
      'Failed keys tried again per second and shard, beside their own backoff; 0 is no limit, client-go has 10',
    ),
  ATOLL_RETRIES_BURST: z.coerce
    .number()
    .int()
    .min(1)
    .max(100_000)
    .default(100)
    .describe('How many failed keys may be tried again at once when ATOLL_RETRIES_PER_SECOND limits them'),
  ATOLL_PROBE_INTERVAL: duration.prefault('20s').describe('Time between two probes of a healthy member'),
  ATOLL_STATUS_INTERVAL: duration.prefault('250ms').describe('Status of one object is written at most this often'),
  ATOLL_INTERACTIVE_MANAGERS: names
    .prefault('kubectl,kubectl-*')
    .describe("Field managers whose edits of Atoll's fields are taken back; a * stands for any ending"),
  ATOLL_AUTOSCALERS: names
    .prefault('kube-controller-manager,keda*,*-proportional-autoscaler,horizontal-pod-autoscaler')
    .describe('Field managers that replicas are always left to'),
  ATOLL_GIT_ALLOW_LOOPBACK: flag
    .default(false)
    .describe('Development only: let GitSources reach servers at loopback addresses'),
});

/** Everything that the environment decides, read once. Durations are milliseconds. */
export interface Config {
  readonly namespace: string;
  readonly installationId: string | undefined;
  readonly hubKubeconfig: string | undefined;
  /** The API server of the cluster that the process runs in, when it runs in one. */
  readonly inCluster: { readonly host: string; readonly port: string } | undefined;
  readonly redis: {
    readonly url: string;
    readonly allowNoPassword: boolean;
    readonly keyPrefix: string;
    readonly mode: 'standalone' | 'sentinel' | 'cluster';
    readonly nodes: readonly string[];
    readonly sentinel: { readonly master: string; readonly password: string | undefined };
    /** Contents of the files, PEM. */
    readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  };
  readonly replica: string;
  readonly bindAddress: string;
  readonly healthPort: number;
  readonly profilingPort: number;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  readonly lease: { readonly duration: number; readonly renewDeadline: number; readonly retryPeriod: number };
  readonly concurrency: number;
  readonly maxConcurrency: number;
  /** Undefined when retries are held back by each key's backoff only. */
  readonly retryLimit: { readonly perSecond: number; readonly burst: number } | undefined;
  readonly probeInterval: number;
  readonly statusInterval: number;
  /** Who is who among field managers. */
  readonly fieldManagers: { readonly interactive: readonly string[]; readonly autoscalers: readonly string[] };
  readonly gitAllowLoopback: boolean;
}

/** An environment variable is missing or bad; the message names each. */
export class ConfigError extends AtollError {
  override name = 'ConfigError';
}

/**
 * Reads Atoll's configuration from environment variables.
 * @throws ConfigError naming every variable that is missing or bad
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>> = process.env): Config {
  if (environment['NODE_TLS_REJECT_UNAUTHORIZED'] === '0') {
    throw new ConfigError('NODE_TLS_REJECT_UNAUTHORIZED=0 would switch off certificate checks everywhere: unset it');
  }
  const parsed = environmentSchema.safeParse(environment);
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${messageOf(issue)}`);
    throw new ConfigError(`the environment is not usable:\n  ${lines.join('\n  ')}`);
  }
  const config = toConfig(parsed.data);
  if (config.hubKubeconfig === undefined && config.inCluster === undefined) {
    throw new ConfigError('ATOLL_HUB_KUBECONFIG: is required outside of a pod');
  }
  const { duration: lasts, renewDeadline, retryPeriod } = config.lease;
  if (!(lasts > renewDeadline && renewDeadline > retryPeriod * 1.2)) {
    throw new ConfigError(
      'ATOLL_LEASE_DURATION must be longer than ATOLL_LEASE_RENEW_DEADLINE, and that than 1.2 × ATOLL_LEASE_RETRY_PERIOD',
    );
  }
  return Object.freeze(config);
}

/** zod says of a missing variable that undefined is no string. */
function messageOf(issue: z.core.$ZodIssue): string {
  return issue.code === 'invalid_type' && issue.input === undefined ? 'is required' : issue.message;
}

function toConfig(variables: z.output<typeof environmentSchema>): Config {
  return {
    namespace: variables.ATOLL_NAMESPACE,
    installationId: variables.ATOLL_INSTALLATION_ID,
    hubKubeconfig: variables.ATOLL_HUB_KUBECONFIG,
    inCluster: inClusterOf(variables),
    redis: {
      url: variables.ATOLL_REDIS_URL,
      allowNoPassword: variables.ATOLL_REDIS_ALLOW_NO_PASSWORD,
      keyPrefix: variables.ATOLL_REDIS_PREFIX,
      mode: variables.ATOLL_REDIS_MODE,
      nodes: variables.ATOLL_REDIS_NODES?.split(',') ?? [],
      sentinel: {
        master: variables.ATOLL_REDIS_SENTINEL_MASTER,
        password: variables.ATOLL_REDIS_SENTINEL_PASSWORD,
      },
      tls: tlsOf(variables),
    },
    replica: variables.ATOLL_REPLICA,
    bindAddress: variables.ATOLL_BIND_ADDRESS,
    healthPort: variables.ATOLL_HEALTH_PORT,
    profilingPort: variables.ATOLL_PROFILING_PORT,
    logLevel: variables.ATOLL_LOG_LEVEL,
    lease: {
      duration: variables.ATOLL_LEASE_DURATION,
      renewDeadline: variables.ATOLL_LEASE_RENEW_DEADLINE,
      retryPeriod: variables.ATOLL_LEASE_RETRY_PERIOD,
    },
    concurrency: variables.ATOLL_CONCURRENCY,
    maxConcurrency: variables.ATOLL_MAX_CONCURRENCY,
    retryLimit:
      variables.ATOLL_RETRIES_PER_SECOND === 0
        ? undefined
        : { perSecond: variables.ATOLL_RETRIES_PER_SECOND, burst: variables.ATOLL_RETRIES_BURST },
    probeInterval: variables.ATOLL_PROBE_INTERVAL,
    statusInterval: variables.ATOLL_STATUS_INTERVAL,
    fieldManagers: {
      interactive: variables.ATOLL_INTERACTIVE_MANAGERS,
      autoscalers: variables.ATOLL_AUTOSCALERS,
    },
    gitAllowLoopback: variables.ATOLL_GIT_ALLOW_LOOPBACK,
  };
}

/** @throws ConfigError for a file that cannot be read, or half a client certificate */
function tlsOf(variables: z.output<typeof environmentSchema>): Config['redis']['tls'] {
  const { ATOLL_REDIS_CERT_FILE: cert, ATOLL_REDIS_KEY_FILE: key } = variables;
  if ((cert === undefined) !== (key === undefined)) {
    throw new ConfigError('ATOLL_REDIS_CERT_FILE and ATOLL_REDIS_KEY_FILE belong together');
  }
  return {
    ...contentOf('ca', 'ATOLL_REDIS_CA_FILE', variables),
    ...contentOf('cert', 'ATOLL_REDIS_CERT_FILE', variables),
    ...contentOf('key', 'ATOLL_REDIS_KEY_FILE', variables),
  };
}

type FileVariable = 'ATOLL_REDIS_CA_FILE' | 'ATOLL_REDIS_CERT_FILE' | 'ATOLL_REDIS_KEY_FILE';

function contentOf<Part extends string>(
  part: Part,
  variable: FileVariable,
  { [variable]: path }: z.output<typeof environmentSchema>,
): { [Name in Part]?: string } {
  if (path === undefined) return {};
  try {
    return { [part]: readFileSync(path, 'utf8') } as { [Name in Part]: string };
  } catch (error) {
    throw new ConfigError(`${variable}: ${path} cannot be read: ${errorMessage(error)}`, { cause: error });
  }
}

function inClusterOf(variables: z.output<typeof environmentSchema>): Config['inCluster'] {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: servicePort } = variables;
  return host === undefined ? undefined : { host, port: servicePort ?? '443' };
}

/** The variables with their defaults and meaning, for the reference page. */
export function describeEnvironment(): readonly { name: string; fallback: string; meaning: string }[] {
  return Object.entries(environmentSchema.shape).map(([name, schema]) => ({
    name,
    fallback: defaultOf(name, schema),
    meaning: schema.description ?? '',
  }));
}

function defaultOf(name: string, schema: z.ZodType): string {
  if (name === 'ATOLL_REPLICA') return "the machine's host name";
  const definition = schema.def as { readonly defaultValue?: unknown };
  const value = definition.defaultValue;
  if (value === undefined) return schema.safeParse(undefined).success ? '' : '(required)';
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}
