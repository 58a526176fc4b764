import { customResourceDefinition, publishedKinds } from '../../src/api/index.ts';
import type { Generator } from './generator.ts';
import { yamlFile } from './yaml.ts';

/** The CRD of every published kind. */
export const crdManifests: Generator = {
  owns: ['deploy/crds/*.yaml'],
  files: () =>
    new Map(
      publishedKinds
        .map((kind) => customResourceDefinition(kind))
        .map((definition) => [`deploy/crds/${definition.metadata.name}.yaml`, yamlFile([definition])]),
    ),
};
