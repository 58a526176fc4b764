import type { RequestOptions } from 'node:https';
import { compact } from '../../kernel/index.ts';
import type { Connection } from './connection.ts';
import { KubeconfigError } from './kubeconfig.ts';

/**
 * Reads a person's own kubeconfig, for a command that the person runs: files and credential plugins are taken too, because
 * all of it is the person's. (What Atoll itself connects with goes through `parseKubeconfig`, which takes nothing of the
 * kind.) The library is loaded here only, so that the controller does not carry it.
 *
 * What a {@link Connection} cannot say is refused by its name instead of being left out: who goes through a proxy must not
 * be connected directly, and who acts as somebody else must not act as himself.
 *
 * @param file path of the kubeconfig
 * @param context name of a context; the current one when absent
 * @throws KubeconfigError
 */
export async function userConnection(file: string, context?: string): Promise<Connection> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  try {
    config.loadFromFile(file);
  } catch (error) {
    // The first line alone, and no cause: a parser quotes the file in what follows, and that holds secrets.
    const [problem = ''] = (error instanceof Error ? error.message : String(error)).split('\n', 1);
    throw new KubeconfigError(file, problem);
  }
  if (context !== undefined) config.setCurrentContext(context);
  const cluster = config.getCurrentCluster();
  const user = config.getCurrentUser();
  if (cluster === null || user === null) {
    throw new KubeconfigError(
      `contexts[${config.getCurrentContext()}]`,
      `${file} has no such context, or not all of it`,
    );
  }
  refuse(`clusters[${cluster.name}].cluster`, {
    'insecure-skip-tls-verify': cluster.skipTLSVerify,
    'proxy-url': cluster.proxyUrl,
    'tls-server-name': cluster.tlsServerName,
  });
  refuse(`users[${user.name}].user`, { as: user.impersonateUser, username: user.username });
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const credentials = credentialsOf(options);
  if (credentials.token === undefined && credentials.clientCertificate === undefined) {
    throw new KubeconfigError(`users[${user.name}].user`, 'holds neither a token nor a client certificate');
  }
  return { server: cluster.server, ...credentials };
}

function refuse(path: string, fields: Readonly<Record<string, unknown>>): void {
  const found = Object.entries(fields).find(([, value]) => Boolean(value));
  if (found !== undefined) throw new KubeconfigError(`${path}.${found[0]}`, 'is not accepted');
}

/** What the library found, whichever way the kubeconfig says it: PEM texts, and a header. */
function credentialsOf(options: RequestOptions): Omit<Connection, 'server'> {
  const headers = new Headers(options.headers as Record<string, string> | undefined);
  const authorization = headers.get('authorization');
  const token = authorization?.startsWith('Bearer ') === true ? authorization.slice('Bearer '.length) : undefined;
  return compact<Omit<Connection, 'server'>>({
    caData: textOf(options.ca),
    token,
    clientCertificate: textOf(options.cert),
    clientKey: textOf(options.key),
  });
}

function textOf(pem: unknown): string | undefined {
  if (typeof pem === 'string') return pem;
  return Buffer.isBuffer(pem) ? pem.toString('utf8') : undefined;
}
