import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import ts from 'typescript';

/** A test as its file calls it. */
export interface TestTitle {
  readonly file: string;
  /** With the first text of a table's row in it, one title a row; other placeholders as they are. */
  readonly title: string;
}

/** The titles of all tests of this folder. */
export async function testTitles(folder: string): Promise<readonly TestTitle[]> {
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.test.ts'));
  const found = await Promise.all(
    files.toSorted().map(async (file) => titlesIn(file, await readFile(join(folder, file), 'utf8'))),
  );
  return found.flat();
}

function titlesIn(file: string, text: string): TestTitle[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const titles: TestTitle[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const [first] = node.arguments;
      const rows = rowsOf(node.expression);
      if (rows && first && ts.isStringLiteralLike(first)) {
        titles.push(...rows.map((row) => ({ file, title: first.text.replace('%s', row) })));
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return titles;
}

/** What is called is `test`: one row. It is `test.each(table)`: the first text of each row, or "%s" when it is none. */
function rowsOf(called: ts.Expression): readonly string[] | undefined {
  if (isNamed(called, 'test')) return ['%s'];
  if (!ts.isCallExpression(called) || !ts.isPropertyAccessExpression(called.expression)) return undefined;
  const { expression: base, name } = called.expression;
  return isNamed(base, 'test') && isNamed(name, 'each') ? textsIn(called.arguments[0]) : undefined;
}

function isNamed(node: ts.Node, name: string): boolean {
  return ts.isIdentifier(node) && node.text === name;
}

function textsIn(table: ts.Expression | undefined): readonly string[] {
  const rows = table && withoutAssertion(table);
  return rows && ts.isArrayLiteralExpression(rows) ? rows.elements.map(firstText) : ['%s'];
}

function firstText(row: ts.Expression): string {
  const first = ts.isArrayLiteralExpression(row) ? row.elements[0] : row;
  return first && ts.isStringLiteralLike(first) ? first.text : '%s';
}

function withoutAssertion(expression: ts.Expression): ts.Expression {
  return ts.isAsExpression(expression) ? withoutAssertion(expression.expression) : expression;
}
