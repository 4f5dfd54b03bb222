import { expect, test } from 'vitest';
import type { JSONSchemaProps } from '../../../src/api/types/apiextensions/v1.ts';
import { estimateCost } from '../../../src/structural/rules/cost/estimate.ts';
import { RuleCompiler } from '../../../src/structural/rules/programs.ts';
import { typeOfSchema } from '../../../src/structural/rules/rule-types.ts';

type Schema = JSONSchemaProps;
/** A schema whose lists, maps and texts have at most so many items, entries and characters; undefined for no bound. */
type Bounded = (most?: number) => Schema;

const bound = (name: 'maxItems' | 'maxProperties' | 'maxLength', most?: number): Schema =>
  most === undefined ? {} : { [name]: most };

const scalar = (name: string): Schema => {
  if (name === 'int-or-string') return { 'x-kubernetes-int-or-string': true };
  return name.startsWith('format ') ? { type: 'string', format: name.slice(7) } : { type: name };
};

const array =
  (items: Schema | string): Bounded =>
  (most) => ({
    type: 'array',
    items: typeof items === 'string' ? scalar(items) : items,
    ...bound('maxItems', most),
  });
const map =
  (values: Schema | string): Bounded =>
  (most) => ({
    type: 'object',
    additionalProperties: typeof values === 'string' ? scalar(values) : values,
    ...bound('maxProperties', most),
  });
const text: Bounded = (most) => ({ type: 'string', ...bound('maxLength', most) });
const bytes: Bounded = (most) => ({ type: 'string', format: 'byte', ...bound('maxLength', most) });
const texts: Bounded = (most) => ({ ...array('string')(most), items: text(most) });
const mapOfTexts: Bounded = (most) => ({ ...map('string')(most), additionalProperties: text(most) });
const words: Bounded = (most) => ({ ...text(most), enum: ['A', 'B', 'C', 'LongValue'] });
const OBJECT: Schema = {
  type: 'object',
  properties: { required: { type: 'string' }, optional: { type: 'string' } },
  required: ['required'],
};
const object =
  (properties: Record<string, Bounded>): Bounded =>
  (most) => ({
    type: 'object',
    properties: Object.fromEntries(Object.entries(properties).map(([name, of]) => [name, of(most)])),
  });

function costOf(rule: string, schema: Schema): number {
  const type = typeOfSchema(schema, false);
  if (type === undefined) throw new Error('expressions cannot see it');
  const { program, problem } = new RuleCompiler().compile({ rule }, type);
  if (program === undefined) throw new Error(problem);
  return estimateCost(program.tree, type);
}

// The figures are those of Kubernetes 1.31; the second ones are for the bound that stands before them.
test.each<[string, Bounded, string, number, number, number]>([
  ['numbers', array('number'), 'self.all(x, true)', 4718591, 10, 32],
  // A sum is a number, and adding two is one step; adding what may be two texts would be as long as both.
  ['sums', array('integer'), 'self.sum() + self.sum() > 0', 3145730, 10, 24],
  ['sums of sizes', texts, 'self.map(x, x.size()).sum() < 100', 15728638, 10, 163],
  ['the least number', array('number'), 'self.min() + 1.0 < self.max()', 3145730, 10, 24],
  ['the last text', texts, 'self.max() == "a"', 329854432052, 10, 52],
  ['texts', array('string'), 'self.all(x, true)', 3145727, 20, 62],
  ['booleans', array('boolean'), 'self.all(x, true)', 1887437, 5, 17],
  ['lists of numbers', array(array('number')()), 'self.all(x, true)', 3145727, 100, 302],
  ['objects', array(OBJECT), 'self.all(x, true)', 555128, 50, 152],
  ['a map of numbers', map('number'), 'self.all(x, true)', 1348169, 10, 32],
  ['a map of texts', map('string'), 'self.all(x, true)', 1179647, 3, 11],
  ['a map of booleans', map('boolean'), 'self.all(x, true)', 943718, 100, 302],
  ['a text', text, "self.contains('test')", 314574, 10, 5],
  ['a text', text, "self.startsWith('test')", 2, 15, 2],
  ['a text', text, "self.endsWith('test')", 2, 30, 2],
  ['a text', text, 'size(self + "hello") > size("hello")', 314578, 4, 7],
  ['numbers', array('number'), 'self[1] == 0.0', 2, 5000, 2],
  ['texts', array('string'), 'self[1] == self[1]', 314577, 8, 314577],
  ['numbers', array('number'), 'self.all(x, self.all(y, true))', 7421701914624, 10, 352],
  ['a text', text, 'self.matches("x")', 314574, 50, 22],
  ['a text', text, '"".matches("(((((((((())))))))))[0-9]")', 7, 10, 7],
  ['a text', text, 'self.matches("")', 1, 100, 1],
  ['a map of texts', mapOfTexts, 'self.all(x, x.contains(self[x]))', 2752507, 10, 72],
  ['a map of numbers', map('number'), 'self["x"] == 0.0', 2, 0, 2],
  ['a text', text, 'self == "x"', 2, 0, 1],
  ['bytes', bytes, 'self == b"x"', 2, 0, 1],
  ['numbers', array('number'), 'self.all(x, x == 0.0)', 6291454, 3 * 1024 * 2048, 25165826],
  ['int-or-strings', array('int-or-string'), 'self.all(x, true)', 4718591, 10, 32],
  ['int-or-strings', array('int-or-string'), 'self[0] == 5', 3, 10, 3],
  ['booleans', array('boolean'), 'self[0] == false', 2, 25, 2],
  ['objects', array(OBJECT), 'self[0] == null', 2, 422, 2],
  ['lists of numbers', array(array('number')()), 'self[0][0] == -1.0', 3, 51, 3],
  ['maps of numbers', array(map('number')()), 'self.all(x, x.y == 25.2)', 6291452, 12, 74],
  ['maps of numbers', array(map('number')()), 'self[0].x > 2.0', 4, 3000, 4],
  ['durations', array('format duration'), 'self.all(x, true)', 2359295, 5, 17],
  ['durations', array('format duration'), 'self[0].getHours() == 2', 4, 525, 4],
  ['dates', array('format date'), 'self.all(x, true)', 725936, 15, 47],
  ['dates', array('format date'), 'self[2].getDayOfMonth() == 13', 4, 42, 4],
  ['times', array('format date-time'), 'self.all(x, true)', 428963, 25, 77],
  ['times', array('format date-time'), 'self[2].getMinutes() == 45', 4, 99, 4],
  ['a map of int-or-strings', map('int-or-string'), 'self.all(x, true)', 1348169, 15, 47],
  ['a map of objects', map(OBJECT), 'self.all(x, true)', 428963, 20, 62],
  ['a map of maps', map(map('number')()), 'self.all(x, true)', 1179647, 10, 32],
  ['a map of lists', map(array('number')()), 'self.all(x, true)', 1179647, 25, 77],
  ['a map of durations', map('format duration'), 'self.all(x, true)', 1048577, 5, 17],
  ['a map of dates', map('format date'), 'self.all(x, true)', 524288, 10, 32],
  ['a map of times', map('format date-time'), 'self.all(x, true)', 349526, 25, 77],
  ['a text', text, "self.find('[0-9]+') == ''", 629147, 10, 11],
  ['texts', texts, "self.join(' ') == 'aa bb'", 329853068905, 10, 43],
  ['texts', texts, 'self.isSorted() == true', 329854432052, 10, 52],
  [
    'an object',
    object({ str: text, before: () => text(2), after: () => text(4) }),
    "self.str.replace(self.before, self.after) == 'does not matter'",
    629154,
    4,
    12,
  ],
  [
    'an object',
    object({ str: text, separator: text }),
    'self.str.split(self.separator) == []',
    629160,
    10,
    22,
  ],
  ['a text', text, "self.lowerAscii() == 'lower!'", 314575, 10, 6],
  ['a map of integers', map('integer'), 'oldSelf.size() == self.size()', 5, 10, 5],
  ['a map of times', map('format date-time'), 'self["a"] == self["b"]', 8, 7, 8],
  ['a map of durations', map('format duration'), 'self["c"] == self["d"]', 8, 42, 8],
  ['a word', words, "self.contains('A')", 2, 1000, 401],
])('a rule of %s costs what Kubernetes estimates: %#: %s', (_, schema, rule, unbounded, most, bounded) => {
  expect(costOf(rule, schema())).toBe(unbounded);
  expect(costOf(rule, schema(most))).toBe(bounded);
});

// Of expressions that write their values out nothing depends on a schema, but that items of a list which has no name count as
// the value itself: they are compared for nothing.
test.each([
  ['[1, 2, 3].all(x, true)', 20],
  ["'123'.matches('[0-9]')", 2],
  ['true || false', 0],
  ['1 < 2', 1],
  ['2 in [1, 2, 3]', 13],
  ['true ? 1 == 1 : 2 == 2', 1],
  ['((5 != 6) == (1 == 2)) == ((3 <= 4) == (9 != 9))', 7],
  ['[1,2,3,4,5].filter(x, x % 2 == 0) == []', 111],
  ['[1,2,3,4,5].map(x, x)[4] == 1', 87],
  ['[1,2,3,4,5].map(x, x).filter(x, x % 2 == 0).size() == 1', 179],
  ['[1,2,3,4,5].map(x, x).exists(x, x == 5) == true', 113],
  ['[[1,2],[1,2],[1,2],[1,2],[1,2]][4] == [1]', 71],
  ["{'a': [1,2], 'b': [1,2], 'c': [1,2], 'd': [1,2], 'e': [1,2]}.b == [1]", 91],
])('%s costs %d', (rule, cost) => {
  expect(costOf(rule, { type: 'boolean' })).toBe(cost);
});

const ITEMS = (type: string): Schema => array(type)();

// Results have the type of the items: what does not fit them is found before anything runs (kubernetes' cel/library, lists).
test.each<[string, Schema, string]>([
  ['self.sum() == "a"', ITEMS('integer'), "applied to '(int, string)'"],
  ['self.sum() == 1', ITEMS('string'), "'sum' applied to"],
  ['self.sum() == 1', ITEMS('boolean'), "'sum' applied to"],
  ['self.min() + "a" == "a"', ITEMS('integer'), "applied to '(int, string)'"],
  ['self.max().startsWith("a")', ITEMS('integer'), "'startsWith' applied to"],
  ['self.map(x, [x]).max() == [1]', ITEMS('integer'), "'max' applied to"],
  ['self.map(x, [x]).isSorted()', ITEMS('integer'), "'isSorted' applied to"],
  ['self.indexOf("a") == 1', ITEMS('integer'), "'indexOf' applied to"],
  ['self.lastIndexOf(1) == 1', ITEMS('string'), "'lastIndexOf' applied to"],
])('%s of other items is refused', (rule, schema, problem) => {
  expect(() => costOf(rule, schema)).toThrow(problem);
});

test.each<[string, Schema]>([
  ['self.sum() > 0', ITEMS('integer')],
  ['self.sum() > 0.0', ITEMS('number')],
  ['self.sum() > duration("1s")', ITEMS('format duration')],
  ['self.max() > timestamp("2026-01-01T00:00:00Z")', ITEMS('format date-time')],
  ['self.max() == "a" || self.min().size() > 1', ITEMS('string')],
  ['!self.min()', ITEMS('boolean')],
  ['self.sum() == 1 || self.max() == "a"', ITEMS('int-or-string')],
  ['[].sum() == 0 && self.map(x, x.size()).sum() > 1', ITEMS('string')],
  ['self.indexOf(1) == 1 || self.indexOf("a") == 1', ITEMS('int-or-string')],
])('%s is accepted', (rule, schema) => {
  expect(() => costOf(rule, schema)).not.toThrow();
});
