import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';
import { AbstractConnector, SentinelConnector } from 'ioredis';
import { AtollError } from '../kernel/index.ts';
import { refuseServer } from './server-check.ts';
import type { ServerInfo } from './server-check.ts';

/** The options of ioredis that say where to connect. */
interface Address {
  readonly host?: string;
  readonly port?: number;
  readonly family?: number;
  readonly path?: string;
  readonly tls?: ConnectionOptions;
  readonly disconnectTimeout: number;
}

type Stream = Awaited<ReturnType<AbstractConnector['connect']>>;
type ConnectorClass = new (options: unknown) => AbstractConnector;

/** Which servers may be connected to, and who is told why others may not. */
export interface ServerCheck {
  /** Nodes of a Cluster may be replicas: what is written goes to the masters. */
  readonly allowReplica: boolean;
  readonly onRefused: (reason: string) => void;
}

/** A connector for ioredis that lets a connection become ready only on a server that is fit, and tells why others are not. */
export function checkedConnector(serverCheck: ServerCheck): ConnectorClass {
  return class CheckedConnector extends AbstractConnector {
    readonly #address: Address;

    constructor(options: unknown) {
      super((options as Address).disconnectTimeout);
      this.#address = options as Address;
    }

    override connect(): Promise<Stream> {
      const { host, port, family, path, tls } = this.#address;
      const where = path === undefined ? { host, port, family } : { path };
      this.connecting = true;
      const stream = tls === undefined ? connectTcp(where as { port: number }) : connectTls({ ...where, ...tls });
      stream.once('error', (error) => (this.firstError = error));
      this.stream = stream;
      return Promise.resolve(stream);
    }

    override check(info: ServerInfo): boolean {
      return isFit(info, serverCheck);
    }
  };
}

/** The same for the master that Sentinels name. */
export function checkedSentinelConnector(serverCheck: ServerCheck): ConnectorClass {
  return class CheckedSentinelConnector extends SentinelConnector {
    override check(info: ServerInfo): boolean {
      // Its own check turns to the next Sentinel when the server is no master.
      return super.check(info) && isFit(info, serverCheck);
    }
  } as unknown as ConnectorClass;
}

/** A connector for ioredis that connects to nothing: the client ends at once, and every command to it fails. */
export function refusingConnector(reason: string): ConnectorClass {
  return class RefusingConnector extends AbstractConnector {
    constructor() {
      super(0);
    }

    override connect(): Promise<Stream> {
      return Promise.reject(new AtollError(reason));
    }
  };
}

function isFit(info: ServerInfo, { allowReplica, onRefused }: ServerCheck): boolean {
  const reason = refuseServer(allowReplica ? { ...info, role: 'master' } : info);
  if (reason !== undefined) onRefused(reason);
  return reason === undefined;
}
