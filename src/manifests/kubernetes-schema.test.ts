import { describe, expect, test } from 'vitest';

import { splitDocuments } from './document-splitter.ts';
import { defaultManifestLimits } from './manifest-limits.ts';
import { parseDocument } from './yaml-document.ts';

function parse(text: string, limits = {}): unknown {
  return parseDocument(text, { ...defaultManifestLimits, ...limits }).value;
}

describe('a plain value means what it means to kubectl', () => {
  test.each<[string, unknown]>([
    ['0644', 420],
    ['0o644', 420],
    ['0888', 888],
    ['-0644', -420],
    ['0x1F', 31],
    ['+0x1F', 31],
    ['0XfF', 255],
    ['0b11', 3],
    ['1_000', 1000],
    ['1__0', 10],
    ['_1', '_1'],
    ['0_', 0],
    ['-0', 0],
    ['-0.0', 0],
    ['0x', '0x'],
    ['1.', 1],
    ['.5', 0.5],
    ['+.5', 0.5],
    ['.5_0', '.5_0'],
    ['1_0.5', 10.5],
    ['.', '.'],
    ['..', '..'],
    ['12e03', 12_000],
    ['1234e56', 1.234e59],
    ['26e525', '26e525'],
    ['9223372036854775807', 9_223_372_036_854_775_807n],
    ['-9223372036854775808', -9_223_372_036_854_775_808n],
    ['9007199254740992', 9_007_199_254_740_992n],
    ['18446744073709551616', 18_446_744_073_709_551_616],
    ['1:30', '1:30'],
    ['190:20:30', '190:20:30'],
    ['2024-01-02', '2024-01-02'],
    ['2024-01-02T03:04:05Z', '2024-01-02T03:04:05Z'],
    ['1.2.3', '1.2.3'],
    ['1Gi', '1Gi'],
    ['yes', true],
    ['Off', false],
    ['y', true],
    ['yEs', 'yEs'],
    ['~', null],
    ['"yes"', 'yes'],
    ["'0644'", '0644'],
    ['!!str 0644', '0644'],
    ['!!int "5"', 5],
    ['!!float 3', 3],
    ['!!bool "yes"', true],
    ['!!binary aGk=', 'hi'],
    ['!foo bar', 'bar'],
    ['!!timestamp 2024-01-02', '2024-01-02'],
    ['!foo [1]', [1]],
    ['!foo {a: 1}', { a: 1 }],
  ])('%s', (text, value) => {
    expect(parse(`v: ${text}`)).toEqual({ v: value });
  });
});

describe('a key is text', () => {
  test.each([
    ['on', 'true'],
    ['n', 'false'],
    ['1', '1'],
    ['0644', '420'],
    ['9007199254740993', '9007199254740993'],
    ['"on"', 'on'],
    ['"1.5"', '1.5'],
    ['1.2.3.4', '1.2.3.4'],
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['1.5-alpine', '1.5-alpine'],
    ['08-05', '08-05'],
    ['12e4abc', '12e4abc'],
    ['.', '.'],
  ])('%s', (key, name) => {
    expect(parse(`${key}: v`)).toEqual({ [name]: 'v' });
  });

  test('a key named __proto__ is one like any other', () => {
    const value = parse('<<: {a: 1}\n__proto__: {polluted: true}') as object;
    expect(Object.keys(value)).toEqual(['a', '__proto__']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

describe('refused instead of guessed at', () => {
  test.each<[string, string, RegExp]>([
    ['what JSON cannot hold', 'v: .inf', /not a number/],
    ['what JSON cannot hold', 'v: -.INF', /not a number/],
    ['what JSON cannot hold', 'v: .nan', /not a number/],
    ['a key that is a fraction', '1.50: v', /quote the key/],
    ['a key that is a power', '1e3: v', /quote the key/],
    ['a key that is null', '~: v', /must not be null/],
    ['a key that is a list', '? [a]\n: v', /complex keys/],
    ['a key that is there twice', 'a: 1\na: 2', /duplicated mapping key/],
    ['a merge after other keys', 'x: &x {b: 1}\ny:\n  b: 2\n  <<: *x', /before all other keys/],
    ['two merges', 'x: &x {b: 1}\ny:\n  <<: *x\n  <<: *x', /before all other keys/],
    ['content after the end', 'a: 1\n...\nb: 2', /nothing may follow/],
    ['a directive', '%YAML 1.2\na: 1', /./],
    ['a template', 'v: {{ .Values.x }}', /looks like a template/],
    ['a template', '{{- if .Values.x }}\na: 1\n{{- end }}', /looks like a template/],
    ['tabs as indentation', 'a:\n\tb: 1', /tab/],
    ['a control character', 'a: "\u0007"', /U\+0007/],
    ['a line separator', 'a: "x\u2028y"', /U\+2028/],
    ['half a character', 'a: "\ud800"', /U\+D800/],
    ['an unknown alias', 'a: *nobody', /no anchor &nobody/],
    ['an anchor in itself', 'a: &x [*x]', /contains itself/],
    ['binary that is none', 'v: !!binary "?"', /./],
    ['a number that is none', 'v: !!int many', /./],
  ])('%s: %j', (_what, text, message) => {
    expect(() => parse(text)).toThrow(message);
  });

  test('merge keys are merged, and an explicit key wins', () => {
    const text = 'x: &x {b: 1, c: 1}\nz: &z {b: 0, d: 0}\nv:\n  <<: [*x, *z]\n  c: 2';
    expect(parse(text)).toMatchObject({ v: { b: 1, c: 2, d: 0 } });
  });
});

describe('limits hold before anything is built', () => {
  const bomb = Array.from({ length: 9 }, (_, level) => {
    const items = level === 0 ? 'x' : `*l${level - 1}`;
    return `l${level}: &l${level} [${Array.from({ length: 9 }, () => items).join(', ')}]`;
  }).join('\n');

  test.each<[string, string, object, RegExp]>([
    ['an alias bomb', bomb, {}, /more than 200000 values/],
    ['many values', `[${'1,'.repeat(50)}]`, { nodes: 40 }, /more than 40 values/],
    ['deep nesting', '['.repeat(12_000), {}, /maxDepth|levels deep/],
    ['deep nesting by aliases', 'a: &a [[[1]]]\nb: &b [[*a]]\nc: [[[*b]]]', { depth: 7 }, /levels deep/],
    ['many aliases', `a: &a 1\nb: [${'*a,'.repeat(20)}]`, { aliases: 10 }, /aliases/],
  ])('%s', (_what, text, limits, message) => {
    const start = performance.now();
    expect(() => parse(text, limits)).toThrow(message);
    expect(performance.now() - start).toBeLessThan(1000);
  });

  test('nesting up to the limit is fine', () => {
    expect(parse(`${'['.repeat(100)}1${']'.repeat(100)}`)).toBeDefined();
    expect(() => parse(`${'['.repeat(101)}1${']'.repeat(101)}`)).toThrow(/100 levels/);
  });
});

describe('a file is cut into documents', () => {
  test.each<[string, string, string[]]>([
    ['at separators', 'a: 1\n---\nb: 2\n', ['a: 1\n', 'b: 2\n']],
    ['with comments behind them', '--- # first\na: 1\n---   \nb: 2', ['a: 1\n', 'b: 2']],
    ['skipping what is empty', '---\n---\n# nothing\n---\na: 1\n---\n', ['a: 1\n']],
    ['with Windows line ends', 'a: 1\r\n---\r\nb: 2\r\n', ['a: 1\r\n', 'b: 2\r\n']],
    ['without marks of byte order', '\uFEFFa: 1\n---\n\uFEFFb: 2', ['a: 1\n', 'b: 2']],
    ['between JSON objects', '{"a": "}{"} {"b": [{}]}\n{"c": 3}', ['{"a": "}{"}', '{"b": [{}]}', '{"c": 3}']],
    ['not inside one', '{"a": {"b": 1}}', ['{"a": {"b": 1}}']],
    ['not where it is YAML', "{a: '}'}{b: 2}", ["{a: '}'}{b: 2}"]],
    ['not inside text', 'a: |\n  x\n  ---\n  y\n', ['a: |\n  x\n  ---\n  y\n']],
  ])('%s', (_how, content, texts) => {
    expect(splitDocuments(content).documents.map(({ text }) => text)).toEqual(texts);
  });

  test('a separator with content on its line is a mistake, at its place', () => {
    expect(splitDocuments('a: 1\n--- {b: 2}\n').errors).toEqual([expect.objectContaining({ line: 2, column: 4 })]);
  });

  test('a long file of comments or separators is cut in no time', () => {
    const start = performance.now();
    splitDocuments('# x\n'.repeat(500_000));
    splitDocuments('---\n'.repeat(500_000));
    splitDocuments(`${' '.repeat(1_000_000)}x`);
    splitDocuments('{'.repeat(1_000_000));
    splitDocuments('"'.repeat(1_000_000));
    expect(performance.now() - start).toBeLessThan(3000);
  });
});
