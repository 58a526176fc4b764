import { customResourceDefinition, publishedKinds } from '../../src/api/index.ts';
import type { Generator } from './generator.ts';
import { yamlFile } from './yaml.ts';

/** The CRD of every published kind, and the kustomization that names them: `kubectl apply -k deploy/crds`. */
export const crdManifests: Generator = {
  owns: ['deploy/crds/*.yaml'],
  files: () => {
    const definitions = publishedKinds.map((kind) => customResourceDefinition(kind));
    const files = definitions.map((definition): [string, string] => [
      `${definition.metadata.name}.yaml`,
      yamlFile([definition]),
    ]);
    const names = files.map(([name]) => name).toSorted();
    const all: [string, string][] = [...files, ['kustomization.yaml', yamlFile([kustomization(names)])]];
    return new Map(all.map(([name, content]) => [`deploy/crds/${name}`, content]));
  },
};

function kustomization(resources: readonly string[]): object {
  return { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', resources };
}
