import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ControlPlanePrograms } from './programs.ts';

export interface ClusterOptions {
  readonly name: string;
  /** The lab's directory. */
  readonly directory: string;
  readonly etcdUrl: string;
  readonly programs: ControlPlanePrograms;
  readonly audit: boolean;
  /** A hub cleans up (garbage collection, namespaces); a workloads cluster also schedules and runs pods. */
  readonly role: 'hub' | 'member' | 'workloads';
}

/** Where a cluster's files lie. */
export class ClusterFiles {
  readonly auditLog: string;
  readonly #directory: string;
  readonly #name: string;

  constructor(directory: string, name: string) {
    this.#directory = directory;
    this.#name = name;
    this.auditLog = join(directory, 'audit', `${name}.log`);
  }

  pki(file: string): string {
    return join(this.#directory, 'pki', this.#name, file);
  }

  log(program: string): string {
    return join(this.#directory, 'logs', `${this.#name}-${program}.log`);
  }

  kubeconfig(user: string): string {
    return user === 'admin'
      ? join(this.#directory, 'kubeconfigs', `${this.#name}.yaml`)
      : this.pki(`${user}.kubeconfig.yaml`);
  }

  async createFolders(): Promise<void> {
    for (const folder of ['audit', 'logs', 'kubeconfigs', join('pki', this.#name)]) {
      await mkdir(join(this.#directory, folder), { recursive: true });
    }
  }
}
