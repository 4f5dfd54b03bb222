import { describe, expect, test } from 'vitest';
import type { Minor } from '../../src/api/emulation.ts';
import { PolicyCompiler } from '../../src/cel/policies/compiler.ts';
import { toCel } from '../../src/cel/program.ts';
import { estimateCost } from '../../src/structural/rules/cost/estimate.ts';
import { RuleCompiler } from '../../src/structural/rules/programs.ts';
import { typeOfSchema } from '../../src/structural/rules/rule-types.ts';
import type { Schema } from '../../src/structural/schema-node.ts';

/** Libraries of Kubernetes' CEL that came after 1.31, by the cases of their own tests. */

const OBJECT = { names: ['b', 'a', 'b'], sizes: { small: 1, large: 3 }, version: '1.2.3' };

const SCHEMA: Schema = {
  type: 'object',
  properties: {
    names: { type: 'array', maxItems: 10, items: { type: 'string', maxLength: 10 } },
    sizes: { type: 'object', maxProperties: 10, additionalProperties: { type: 'integer' } },
    version: { type: 'string', maxLength: 20 },
  },
};

function policyValue(expression: string): unknown {
  const compiled = new PolicyCompiler(false).compile(expression, 'anything');
  if (compiled.program === undefined) throw new Error(compiled.problem);
  const given = { object: toCel(OBJECT), oldObject: null, namespaceObject: null };
  return compiled.program.run(given).result;
}

const isTrue = (expression: string): void => expect(policyValue(expression)).toBe(true);

describe('loops with two variables', () => {
  test.each([
    '[1, 2, 3].all(i, j, i < j)',
    "{'hello': 'world', 'taco': 'shell'}.all(k, v, k != v)",
    "{'h': ['hello', 'hi'], 'j': ['joke', 'jog']}.all(k, vals, vals.all(v, v.startsWith(k)))",
    "{'greeting': 'hello', 'farewell': 'goodbye'}.exists(k, v, k.startsWith('good') || v.endsWith('bye'))",
    '![1, 2, 4, 8, 16].exists(i, v, v == 1024 && i == 10)',
    '![1, 2, 1, 3, 1, 4].existsOne(i, v, i == 1 || v == 1)',
    '[1, 1, 2, 2, 3, 3].exists_one(i, v, i == 2 && v == 2)',
    "{'i': 0, 'j': 1, 'k': 2}.existsOne(i, v, i == 'l' || v == 1)",
    '[1, 2, 3].transformList(i, v, (i * v) + v) == [1, 4, 9]',
    '[1, 2, 3].transformList(i, v, i % 2 == 0, (i * v) + v) == [1, 9]',
    "{'greeting': 'hello'}.transformList(k, _, k) == ['greeting']",
    '[1, 2, 3].transformMap(i, v, (i * v) + v) == {0: 1, 1: 4, 2: 9}',
    '[1, 2, 3].transformMap(i, v, i % 2 == 0, (i * v) + v) == {0: 1, 2: 9}',
    "{'greeting': 'hello'}.transformMap(k, v, v + '!') == {'greeting': 'hello!'}",
    "{'greeting': 'hello'}.transformMapEntry(k, v, {v: k}) == {'hello': 'greeting'}",
    "object.names.transformMapEntry(i, v, i < 2, {v: string(i)}) == {'b': '0', 'a': '1'}",
    'object.sizes.exists(k, v, k == "large" && v == 3)',
    '[1, 2].all(i, v, [3, 4].exists(j, w, w - v == 2 && j == i))',
    '[0, 1].exists(i, v, 1 / v == 1)',
  ])('%s', isTrue);

  test.each([
    ["{'a': 1, 'b': 1}.transformMapEntry(k, v, {v: k})", 'insert failed: key 1 already exists'],
    ['[0, 1].all(i, v, 1 / v == 1)', 'division by zero'],
    ['[1].all(i, i, true)', 'duplicate variable name: i'],
    ['[1].all(i.x, v, true)', 'all() variable name must be a simple identifier'],
    ['[1].all(i, v, v)', "expected type 'bool' but found 'int'"],
    ['1.all(i, v, true)', "expression of type 'int' cannot be range of a comprehension"],
    ['[1].transformMapEntry(i, v, v)', 'found no matching overload'],
  ])('%s fails: %s', (expression, why) => {
    expect(() => policyValue(expression)).toThrow(why);
  });
});

describe('semantic versions', () => {
  test.each([
    'isSemver("1.2.3-beta.1+build.1")',
    ...['""', '"v1.0.0"', '" 1.0.0"', '"1. 0.0"', '"1.0.0 "', '"01.01.01"', '"1"', '"1.1"'].map(
      (text) => `!isSemver(${text})`,
    ),
    ...['""', '" 1.0.0"', '"1. 0.0"', '"1.0.0 "', '"1.1-beta"'].map((text) => `!isSemver(${text}, true)`),
    ...['"v1.0.0"', '"01.01.01"', '"1"', '"1.1"'].map((text) => `isSemver(${text}, true)`),
    'semver("v01.01", true) == semver("1.1.0")',
    'semver("1.2.3") == semver("1.2.3+build")',
    'semver("1.2.3") != semver("1.0.0")',
    'semver("1.0.0").isLessThan(semver("1.2.3")) && !semver("1.0.0").isLessThan(semver("1.0.0"))',
    'semver("1.2.3").isGreaterThan(semver("1.2.3-rc.1"))',
    '[semver("1.2.3").compareTo(semver("1.2.3")), semver("1.0.0").compareTo(semver("1.2.3"))] == [0, -1]',
    '[semver("1.2.3").major(), semver("1.2.3").minor(), semver("1.2.3").patch()] == [1, 2, 3]',
  ])('%s', isTrue);

  test.each([
    ['""', 'Version string empty'],
    ['"v1.0"', 'No Major.Minor.Patch elements found'],
    ['"v1.0.0"', 'Invalid character(s) found in major number "v1"'],
    ['"1.01.0"', 'Minor number must not contain leading zeroes "01"'],
    ['"1.0.0-"', 'Prerelease is empty'],
    ['"1.0.0-01"', 'Numeric PreRelease version must not contain leading zeroes "01"'],
    ['"1.0.0+a_b"', 'Invalid character(s) found in build meta data "a_b"'],
    ['"1.0-x", true', 'short version cannot contain PreRelease/Build meta data'],
  ])('semver(%s) fails: %s', (text, why) => {
    expect(() => policyValue(`semver(${text})`)).toThrow(why);
  });
});

describe('lists', () => {
  test.each([
    "['b', 'b', 'c', 'a', 'c'].distinct() == ['b', 'c', 'a']",
    'lists.range(5) == [0, 1, 2, 3, 4] && lists.range(0) == []',
    '[5, 3, 1, 2].reverse() == [2, 1, 3, 5]',
    '[1, 2, 3, 4].slice(1, 3) == [2, 3] && [1, 2].slice(2, 2) == []',
    '[[1, 2], [], [3]].flatten() == [1, 2, 3]',
    '[dyn(1), dyn([2, [3, [4]]])].flatten(2) == [dyn(1), dyn(2), dyn(3), dyn([4])]',
    "['b', 'c', 'a'].sort() == ['a', 'b', 'c'] && [2u, 1u].sort() == [1u, 2u]",
    "['foo', 'b', 'ba'].sortBy(e, e.size()) == ['b', 'ba', 'foo']",
    "object.names.sort() == ['a', 'b', 'b'] && object.names.distinct().size() == 2",
    "object.names.map(n, {'name': n}).sortBy(e, e.name)[0].name == 'a'",
  ])('%s', isTrue);

  test.each([
    ['[1, 2].slice(0, 3)', 'cannot slice(0, 3), list is length 2'],
    ['[1, 2].slice(-1, 1)', 'cannot slice(-1, 1), negative indexes not supported'],
    ['[1, 2].slice(2, 1)', 'start index must be less than or equal to end index'],
    ['[[1]].flatten(-1)', 'level must be non-negative'],
    ['[dyn(1), dyn("b")].sort()', 'list elements must have the same type'],
    ['[[1]].sort()', 'found no matching overload'],
    ['[1].sortBy(e, [e])', 'found no matching overload'],
    ['lists.range(1000000000)', 'cost limit exceeded'],
  ])('%s fails: %s', (expression, why) => {
    expect(() => policyValue(expression)).toThrow(why);
  });
});

const self = typeOfSchema(SCHEMA, false) ?? {
  kind: 'simple',
  schema: {},
  name: '',
  minSize: 0,
  maxElements: 0,
};

// The figures of cel-go's tests (ext/lists_test.go and comprehensions_test.go).
test.each([
  ['lists.range(4) == [0, 1, 2, 3]', 26],
  ['lists.range(4 / 2) == [0, 1]', 2 ** 64],
  ['[1, 2, 3].distinct() == [1, 2, 3]', 50],
  ['[1, 2, 3].slice(1, 3) == [2, 3]', 34],
  ['[3, 2, 1].reverse() == [1, 2, 3]', 35],
  ['[2, 3, 1].sort() == [1, 2, 3]', 50],
  ["[{'x':4}, {'x':3}].sortBy(m, m['x']) == [{'x':3}, {'x':4}]", 211],
  ['[1, 2, 3, 4].all(i, v, i < 5 && v > 0)', 39],
  ['{1: 1, 2: 2, 3: 3}.all(i, v, i < 5 && v > 0)', 52],
  ['!{0: 0}.all(i, v, i < 5 && v > 0)', 39],
  ['[1].transformList(i, v, i) == [0]', 45],
  ['[3, 2, 1].transformList(i, v, v > i, v) == [3, 2]', 80],
  ['{1: 2}.transformMap(k, v, v + 1) == {1: 3}', 97],
  ['{1: 2, 3: 4, 5: 6}.transformMap(k, v, k % 3 == 0, v + 1) == {3: 5}', 116],
  ['{1: 2}.transformMapEntry(k, v, {v: k}) == {2: 1}', 126],
])('%s is estimated at %i', (rule, cost) => {
  const { program, problem } = new RuleCompiler().compile({ rule }, self);
  expect(program === undefined ? problem : estimateCost(program.tree, self)).toBe(cost);
});

const USES: readonly (readonly [expression: string, since: Minor, name: string])[] = [
  ['self.names.all(i, n, n != "")', 32, 'all'],
  ['self.sizes.exists(k, v, v > 2)', 32, 'exists'],
  ['self.names.transformList(i, n, n).size() == 3', 32, 'transformList'],
  ['semver(self.version).major() == 1', 33, 'semver'],
  ['isSemver(self.version, true)', 33, 'isSemver'],
  ['self.names.first().hasValue()', 32, 'first'],
  ['self.names.distinct().size() == 2', 34, 'distinct'],
  ['self.names.sortBy(n, n)[0] == "a"', 34, 'sortBy'],
  ['lists.range(3).size() == 3', 34, 'lists'],
];

describe('by version', () => {
  test.each(USES)('%s is new in %i: rules and policies know it from then on', (expression, since, name) => {
    const policy = expression.replaceAll('self', 'object');
    for (const newest of [31, 32, 33, 34, 35] as const) {
      const limit = { newest, stored: new Set<string>(), minor: newest };
      const rule = new RuleCompiler(limit).compile({ rule: expression }, self);
      const compiled = new PolicyCompiler(false, limit).compile(policy, 'bool');
      const unknown = expect.stringContaining(`undeclared reference to '${name}' (in container '')`);
      expect(rule.problem, `${newest}`).toEqual(newest < since ? unknown : '');
      expect(compiled).toMatchObject(newest < since ? { problem: unknown } : { expression: policy });
    }
  });

  test('what is stored goes on, and so do functions of one variable', () => {
    const expression = 'semver(object.version).major() == 1';
    const limit = { newest: 31, stored: new Set([expression]), minor: 31 } as const;
    const compiler = new PolicyCompiler(false, limit);
    expect(compiler.compile(expression, 'bool').program).toBeDefined();
    expect(compiler.compile(`${expression} `, 'bool').program).toBeUndefined();
    expect(compiler.compile('object.names.all(n, n != "")', 'bool').program).toBeDefined();
  });

  test('an unknown function is where Kubernetes points at', () => {
    const compiler = new PolicyCompiler(false, { newest: 31, minor: 31, stored: new Set() });
    expect(compiler.compile('true && semver (object.v) == 1', 'bool')).toMatchObject({
      problem:
        "compilation failed: ERROR: <input>:1:16: undeclared reference to 'semver' (in container '')\n | true && semver (object.v) == 1\n | ...............^",
    });
  });
});
