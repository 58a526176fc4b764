import { createPrivateKey, X509Certificate } from 'node:crypto';
import { FAILSAFE_SCHEMA, load } from 'js-yaml';
import { AtollError } from '../../kernel/index.ts';
import type { Connection } from './connection.ts';

/** A kubeconfig that is not accepted; the message and {@link field} name what is wrong, never its value. */
export class KubeconfigError extends AtollError {
  override name = 'KubeconfigError';
  /** Path of the field, like `users[admin].user.exec`. */
  readonly field: string;

  constructor(field: string, problem: string, options: ErrorOptions = {}) {
    super(`kubeconfig: ${field}: ${problem}`, options);
    this.field = field;
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** A kubeconfig is a few KiB; one that embeds large bundles, some dozens. */
const MAX_LENGTH = 256 * 1024;
const MAX_DEPTH = 20;

/** What kubectl writes for its own use, and what has no say in how the server is reached. */
const HARMLESS = ['extensions'];
const CLUSTER_FIELDS = ['server', 'certificate-authority-data', ...HARMLESS];
const USER_FIELDS = ['token', 'client-certificate-data', 'client-key-data', ...HARMLESS];
const CONTEXT_FIELDS = ['cluster', 'user', 'namespace', ...HARMLESS];
const TOP_FIELDS = [
  'apiVersion',
  'kind',
  'clusters',
  'users',
  'contexts',
  'current-context',
  'preferences',
  ...HARMLESS,
];

/**
 * Reads the connection of the current context.
 *
 * A kubeconfig of a member is somebody else's data, and the format can run commands, read files and send what they hold
 * to any server. So this is an allow-list: an https server with inline CA, and a token or an inline client certificate.
 * Anything else in the used cluster, user and context is refused by name. YAML is read with text as its only scalar.
 *
 * @throws KubeconfigError
 */
export function parseKubeconfig(text: string): Connection {
  const root = fieldsOf(parseYaml(text), 'document', TOP_FIELDS);
  const context = entry(root, 'context', required(root, 'current-context', 'document'));
  const cluster = entry(root, 'cluster', required(context.fields, 'cluster', context.path));
  const user = entry(root, 'user', required(context.fields, 'user', context.path));
  return { ...serverOf(cluster), ...credentialsOf(user) };
}

/** The kubeconfig of one cluster and a bearer token in it, for {@link parseKubeconfig} to read. JSON is YAML. */
export function formatKubeconfig(
  cluster: string,
  connection: Pick<Connection, 'server' | 'caData'>,
  token: string,
): string {
  const { server, caData } = connection;
  const authority =
    caData === undefined ? {} : { 'certificate-authority-data': Buffer.from(caData).toString('base64') };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: cluster, cluster: { server, ...authority } }],
    users: [{ name: 'atoll', user: { token } }],
    contexts: [{ name: cluster, context: { cluster, user: 'atoll' } }],
    'current-context': cluster,
  });
}

interface Entry {
  readonly path: string;
  readonly fields: Fields;
}

function parseYaml(text: string): unknown {
  if (text.length > MAX_LENGTH) throw new KubeconfigError('document', `longer than ${MAX_LENGTH} characters`);
  try {
    return load(text, { schema: FAILSAFE_SCHEMA, maxDepth: MAX_DEPTH, maxAliases: 0 });
  } catch (error) {
    // The parser's message quotes the text, which may hold a key: it stays out, as message and as cause.
    const line = (error as { mark?: { line?: number } }).mark?.line;
    throw new KubeconfigError('document', `not YAML${line === undefined ? '' : ` (line ${line + 1})`}`);
  }
}

/** The entry of this name in `clusters`, `users` or `contexts`, with nothing in it but what is allowed there. */
function entry(root: Fields, kind: 'cluster' | 'user' | 'context', name: string): Entry {
  const list = root[`${kind}s`];
  const path = `${kind}s[${name}]`;
  const found = Array.isArray(list)
    ? (list as unknown[]).filter((item) => isFields(item) && item['name'] === name)
    : [];
  const [item] = found;
  if (found.length !== 1 || item === undefined) {
    throw new KubeconfigError(path, found.length === 0 ? 'there is no such entry' : 'there are several such entries');
  }
  const allowed = { cluster: CLUSTER_FIELDS, user: USER_FIELDS, context: CONTEXT_FIELDS }[kind];
  const outer = fieldsOf(item, path, ['name', kind]);
  return { path: `${path}.${kind}`, fields: fieldsOf(outer[kind], `${path}.${kind}`, allowed) };
}

function serverOf({ path, fields }: Entry): Pick<Connection, 'server' | 'caData'> {
  const server = required(fields, 'server', path);
  const field = `${path}.server`;
  if (!URL.canParse(server)) throw new KubeconfigError(field, 'not a URL');
  const url = new URL(server);
  if (url.protocol !== 'https:') throw new KubeconfigError(field, 'only https is accepted');
  if (url.username !== '' || url.password !== '') throw new KubeconfigError(field, 'must not hold credentials');
  if (url.search !== '' || url.hash !== '') throw new KubeconfigError(field, 'must not hold a query or a fragment');
  const caData = decoded(fields, 'certificate-authority-data', path, (pem) => new X509Certificate(pem));
  return { server, ...(caData !== undefined && { caData }) };
}

function credentialsOf({ path, fields }: Entry): Pick<Connection, 'token' | 'clientCertificate' | 'clientKey'> {
  const token = optional(fields, 'token', path);
  const clientCertificate = decoded(fields, 'client-certificate-data', path, (pem) => new X509Certificate(pem));
  const clientKey = decoded(fields, 'client-key-data', path, createPrivateKey);
  if ((clientCertificate === undefined) !== (clientKey === undefined)) {
    throw new KubeconfigError(path, 'client-certificate-data and client-key-data belong together');
  }
  if ((token === undefined) === (clientCertificate === undefined)) {
    throw new KubeconfigError(path, 'exactly one of token and client-certificate-data is needed');
  }
  if (token !== undefined && !/^[\u0021-\u007e]+$/.test(token)) {
    throw new KubeconfigError(`${path}.token`, 'holds characters that a token cannot have');
  }
  if (clientCertificate === undefined || clientKey === undefined) return token === undefined ? {} : { token };
  return { clientCertificate, clientKey };
}

/** A base64 field as the PEM text that it holds. The reason why it is none may quote it, so it is not passed on. */
function decoded(fields: Fields, name: string, path: string, readPem: (pem: string) => unknown): string | undefined {
  const base64 = optional(fields, name, path);
  if (base64 === undefined) return undefined;
  const pem = Buffer.from(base64, 'base64').toString('utf8');
  try {
    readPem(pem);
  } catch {
    throw new KubeconfigError(`${path}.${name}`, 'not base64 of unencrypted PEM');
  }
  return pem;
}

function required(fields: Fields, name: string, path: string): string {
  const value = optional(fields, name, path);
  if (value === undefined) throw new KubeconfigError(`${path}.${name}`, 'missing');
  return value;
}

function optional(fields: Fields, name: string, path: string): string | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || value === '')
    throw new KubeconfigError(`${path}.${name}`, 'must be a text, not empty');
  return value;
}

function fieldsOf(value: unknown, path: string, allowed: readonly string[]): Fields {
  if (!isFields(value)) throw new KubeconfigError(path, 'must be a mapping');
  const refused = Object.keys(value).find((name) => !allowed.includes(name));
  if (refused !== undefined) throw new KubeconfigError(`${path}.${refused}`, 'is not accepted');
  return value;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
