import type { KindVersion, PrinterColumn, PublishedKind } from './published-kind.ts';
import { structuralSchema, type StructuralSchema } from './structural-schema.ts';

/** One entry of a CRD's `spec.versions`. */
interface CustomResourceVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly schema: { readonly openAPIV3Schema: StructuralSchema };
  readonly subresources: { readonly status: Record<string, never> };
  readonly additionalPrinterColumns: readonly PrinterColumn[];
  readonly [field: string]: unknown;
}

/** An apiextensions.k8s.io/v1 CustomResourceDefinition, without status. */
export interface CustomResourceDefinition {
  readonly apiVersion: 'apiextensions.k8s.io/v1';
  readonly kind: 'CustomResourceDefinition';
  readonly metadata: { readonly name: string; readonly [field: string]: unknown };
  readonly spec: {
    readonly group: string;
    readonly scope: 'Namespaced' | 'Cluster';
    readonly names: Readonly<Record<string, string | readonly string[]>>;
    readonly versions: readonly CustomResourceVersion[];
  };
  readonly [field: string]: unknown;
}

/** The CRD of a published kind: the same for the same schema, to the order of its fields. */
export function customResourceDefinition(kind: PublishedKind): CustomResourceDefinition {
  const { gvk, plural, shortNames, categories, scope, versions } = kind;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${gvk.group}` },
    spec: {
      group: gvk.group,
      scope,
      names: {
        kind: gvk.kind,
        listKind: `${gvk.kind}List`,
        plural,
        singular: gvk.kind.toLowerCase(),
        shortNames,
        categories,
      },
      versions: versions.map((version) => versionOf(kind, version)),
    },
  };
}

function versionOf(kind: PublishedKind, version: KindVersion): CustomResourceVersion {
  return {
    name: version.name,
    served: true,
    storage: version.name === kind.gvk.version,
    schema: { openAPIV3Schema: structuralSchema(version.schema) },
    subresources: { status: {} },
    additionalPrinterColumns: kind.printerColumns,
  };
}
