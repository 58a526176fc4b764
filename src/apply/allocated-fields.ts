import { gvkOf, kindName } from '../kernel/index.ts';
import type { KubernetesObject } from '../kernel/index.ts';
import { isRecord } from './field-path.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * The object without what a cluster allocates for itself: Service addresses and node ports, the volume of a claim, the node
 * of a pod, the selector of a Job. Taken from one cluster and sent to another, they collide there or mean something else.
 * What one cluster shall have of them is for an override. `clusterIP: None` is a decision and stays.
 */
export function withoutAllocated(object: KubernetesObject): KubernetesObject {
  const strip = ALLOCATED[kindName(gvkOf(object))];
  const spec = object['spec'];
  return strip === undefined || !isRecord(spec) ? object : { ...object, spec: strip(spec) };
}

const ALLOCATED: Readonly<Record<string, (spec: Fields) => Fields>> = {
  'Service.': withoutServiceAddresses,
  'PersistentVolumeClaim.': (spec) => without(spec, ['volumeName']),
  'Pod.': (spec) => without(spec, ['nodeName']),
  'Job.batch': (spec) => (spec['manualSelector'] === true ? spec : without(spec, ['selector'])),
};

function withoutServiceAddresses(spec: Fields): Fields {
  const headless = spec['clusterIP'] === 'None';
  const kept = without(spec, headless ? ['healthCheckNodePort'] : ['clusterIP', 'clusterIPs', 'healthCheckNodePort']);
  const ports = kept['ports'];
  if (!Array.isArray(ports)) return kept;
  return { ...kept, ports: ports.map((port: unknown) => (isRecord(port) ? without(port, ['nodePort']) : port)) };
}

function without(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}
