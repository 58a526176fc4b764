import type { Clock } from '../kernel/index.ts';
import type { Connection } from './connection.ts';

/** Where the kubelet puts what a pod needs to reach its own API server. */
export interface InClusterOptions {
  readonly clock: Clock;
  /** `KUBERNETES_SERVICE_HOST` and `KUBERNETES_SERVICE_PORT`. */
  readonly host: string;
  readonly port: string;
  /** Default `/var/run/secrets/kubernetes.io/serviceaccount`. */
  readonly directory?: string;
}

/** The connection of a pod to its own API server. The token file is read again every minute. */
export function inClusterConnection(options: InClusterOptions): Connection {
  throw new Error(`not written yet ${options.host}`);
}
