import {
  customResourceDefinition,
  publishedKinds,
  type PublishedKind,
  type StructuralSchema,
} from '../../src/api/index.ts';
import { constraintsOf, typeOf } from './field-text.ts';
import type { Generator } from './generator.ts';
import { page, section, table } from './markdown.ts';

/** A reference page for every published kind, and the index of the whole reference. */
export const referencePages: Generator = {
  owns: ['docs/reference/*.md'],
  files: () =>
    new Map([
      ['docs/reference/README.md', indexPage(publishedKinds)],
      ...publishedKinds.map((kind): [string, string] => [`docs/reference/${pageName(kind)}`, kindPage(kind)]),
    ]),
};

function pageName(kind: PublishedKind): string {
  return `${kind.gvk.kind.toLowerCase()}.md`;
}

function indexPage(kinds: readonly PublishedKind[]): string {
  const rows = kinds.map((kind) => [
    `[${kind.gvk.kind}](${pageName(kind)})`,
    `\`${kind.gvk.group}/${kind.gvk.version}\``,
    kind.location === 'hub' ? 'the hub' : 'members',
    kind.shortNames.map((name) => `\`${name}\``).join(', '),
    rootSchema(kind).description ?? '',
  ]);
  return page('Reference', 'Made from the code: the kinds that Atoll publishes, its variables and its rights.', [
    table(['Kind', 'API version', 'Lives on', 'Short name', 'What it is'], rows),
    '- [Environment variables](environment.md)\n- [Rights](rights.md)',
  ]);
}

function kindPage(kind: PublishedKind): string {
  const { spec, status } = rootSchema(kind).properties ?? {};
  return page(kind.gvk.kind, rootSchema(kind).description ?? '', [
    table(['', ''], identityRows(kind)),
    ...section('Rules for the whole object', rules(rootSchema(kind))),
    ...section('Spec', fieldTable('spec', spec)),
    ...section('Status', fieldTable('status', status)),
    ...section('Columns of `kubectl get`', columnTable(kind)),
  ]);
}

function rootSchema(kind: PublishedKind): StructuralSchema {
  const version = customResourceDefinition(kind).spec.versions.find(({ storage }) => storage);
  if (version === undefined) throw new Error(`${kind.gvk.kind} has no stored version`);
  return version.schema.openAPIV3Schema;
}

function identityRows(kind: PublishedKind): readonly (readonly string[])[] {
  const names = [kind.plural, ...kind.shortNames].map((name) => `\`${name}\``).join(', ');
  return [
    ['API version', `\`${kind.gvk.group}/${kind.gvk.version}\``],
    ['Names for kubectl', names],
    ['Scope', kind.scope === 'Cluster' ? 'cluster' : 'namespace'],
    ['Lives on', kind.location === 'hub' ? 'the hub' : 'members'],
  ];
}

function rules(schema: StructuralSchema): string {
  return (schema['x-kubernetes-validations'] ?? []).map(({ message }) => `- ${message}`).join('\n');
}

function fieldTable(path: string, schema: StructuralSchema | undefined): string {
  const rows = schema === undefined ? [] : fieldRows(path, schema);
  return rows.length === 0 ? '' : table(['Field', 'Type', 'Default', 'Constraints', 'Description'], rows);
}

/** A row for every field below a schema, in the order of the schema. */
function fieldRows(path: string, schema: StructuralSchema): readonly (readonly string[])[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const fieldPath = `${path}.${name}`;
    const required = schema.required?.includes(name) ?? false;
    return [
      [
        `\`${fieldPath}\``,
        typeOf(field),
        field.default === undefined ? '' : `\`${JSON.stringify(field.default)}\``,
        constraintsOf(field, required),
        field.description ?? '',
      ],
      ...fieldRows(fieldPath, field),
      ...(field.items === undefined ? [] : fieldRows(`${fieldPath}[]`, field.items)),
    ];
  });
}

function columnTable(kind: PublishedKind): string {
  return table(
    ['Column', 'Field', 'Description'],
    kind.printerColumns.map(({ name, jsonPath, description, priority = 0 }) => [
      priority > 0 ? `${name} (\`-o wide\`)` : name,
      `\`${jsonPath}\``,
      description,
    ]),
  );
}
