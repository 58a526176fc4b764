import type { RequestOptions } from 'node:https';
import { compact } from '../kernel/index.ts';
import type { Connection } from './connection.ts';
import { KubeconfigError } from './kubeconfig.ts';

/**
 * Reads a person's own kubeconfig, for a command that the person runs: everything that kubectl takes is taken, files
 * and credential plugins too, because all of it is the person's. (What Atoll itself connects with goes through
 * `parseKubeconfig`, which takes nothing of the kind.) The library is loaded here only, so that the controller does not
 * carry it.
 *
 * @param file path of the kubeconfig
 * @param context name of a context; the current one when absent
 * @throws KubeconfigError when there is no such context, or when it would connect without checking certificates
 */
export async function userConnection(file: string, context?: string): Promise<Connection> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  config.loadFromFile(file);
  if (context !== undefined) config.setCurrentContext(context);
  const cluster = config.getCurrentCluster();
  if (cluster === null)
    throw new KubeconfigError(`contexts[${config.getCurrentContext()}]`, `${file} has none of that name`);
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  if (cluster.skipTLSVerify || options.rejectUnauthorized === false) {
    throw new KubeconfigError(`clusters[${cluster.name}].cluster.insecure-skip-tls-verify`, 'is not accepted');
  }
  return { server: cluster.server, ...credentialsOf(options) };
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
