/** Absolute paths of everything that the lab runs. The set-up (`scripts/setup`) finds or builds them. */
export interface LabPrograms {
  readonly git: string;
  readonly kubectl: string;
  /** Absent when `ATOLL_REDIS_URL` names a server that runs already. */
  readonly 'redis-server'?: string;
  /** Absent when `ATOLL_LAB_KUBECONFIGS` names clusters that run already. */
  readonly controlPlane?: ControlPlanePrograms;
}

export interface ControlPlanePrograms {
  readonly etcd: string;
  readonly 'kube-apiserver': string;
  readonly 'kube-controller-manager': string;
  readonly 'kube-scheduler': string;
  readonly kwok: string;
  /** The folder of KWOK's published stages: what its simulated kubelets do. */
  readonly kwokStages: string;
  /** The folder of the definitions (CRDs) of KWOK's kinds: what its simulated kubelets answer to exec and port-forward. */
  readonly kwokDefinitions: string;
}

/** Reads what the set-up handed over in `ATOLL_LAB_PROGRAMS`. */
export function labPrograms(environment: NodeJS.ProcessEnv): LabPrograms {
  const text = environment['ATOLL_LAB_PROGRAMS'];
  if (text === undefined) {
    throw new Error(
      'ATOLL_LAB_PROGRAMS is not set: start the lab through `npm test`, `npm run demo` or `node scripts/run.mjs --lab <file.ts>`',
    );
  }
  return JSON.parse(text) as LabPrograms;
}
