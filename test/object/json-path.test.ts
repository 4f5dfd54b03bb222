import { expect, test } from 'vitest';
import type { JsonValue } from '../../src/api/object-meta.ts';
import { parseExactly } from '../../src/object/exact-json.ts';
import { JsonPathBudget, JsonPathError, parseJsonPath, readJsonPath } from '../../src/object/json-path.ts';
import { threadMs } from '../kit/thread-time.ts';

const OBJECT = parseExactly(`{
  "name": "web", "empty": null, "flag": true, "big": 9007199254740993, "half": 0.5, "a.b": "dotted",
  "__proto__": {"x": "own"}, "with space": {"k": 1}, "it's": "quoted",
  "labels": {"app.kubernetes.io/name": "web", "x\\\\y": "backslash"},
  "ports": [{"name": "http", "port": 80}, {"name": "dns", "port": 53, "udp": true}, {"name": "metrics", "port": 9090}],
  "conditions": [
    {"type": "Ready", "status": "True", "weight": 1.5, "reason": "x==y"},
    {"type": "Synced", "status": "False", "weight": 2}
  ],
  "numbers": [0, 1, 2, 3, 4, 5],
  "tree": {"k": "top", "left": {"k": "l"}, "right": {"k": "r", "deep": {"k": "d"}}}
}`);

const find = (path: string, value: JsonValue = OBJECT): readonly JsonValue[] =>
  parseJsonPath(path).find(value);

test.each<[string, readonly unknown[]]>([
  ['.name', ['web']],
  ['$.name', ['web']],
  ['@.name', ['web']],
  ['.none', []],
  ['.none.below[0]', []],
  ['.empty', [null]],
  ['.empty.below', []],
  ['.name.below', []],
  ['.flag', [true]],
  ['.big', [9007199254740993n]],
  // A dot with nothing behind it is the field without a name.
  ['.', []],
  ['.tree.', []],
  // Names with dots need a backslash, in quotes too.
  ['.a\\.b', ['dotted']],
  ["['a\\.b']", ['dotted']],
  ["['a.b']", []],
  [".labels['app\\.kubernetes\\.io/name']", ['web']],
  ['.labels.app\\.kubernetes\\.io/name', ['web']],
  ["['with\\ space'].k", [1]],
  ["['name','flag']", ['web', true]],
  // What every object has from its prototype is not there.
  ['.constructor', []],
  ['.toString', []],
  ['.__proto__.x', ['own']],
  // Lists.
  ['.numbers[0]', [0]],
  ['.numbers[]', [0]],
  ['.numbers[-1]', [5]],
  ['.numbers[-2]', [4]],
  ['.numbers[1:3]', [1, 2]],
  ['.numbers[:2]', [0, 1]],
  ['.numbers[4:]', [4, 5]],
  ['.numbers[-2:]', [4, 5]],
  ['.numbers[:-4]', [0, 1]],
  ['.numbers[::2]', [0, 2, 4]],
  ['.numbers[1:6:3]', [1, 4]],
  ['.numbers[2:2]', []],
  ['.numbers[0,2,-1]', [0, 2, 5]],
  ['.numbers[0, 1]', [0, 1]],
  ['.ports[*].port', [80, 53, 9090]],
  ['.ports[0:2].name', ['http', 'dns']],
  ['.ports[*].udp', [true]],
  ['.ports[*].none', []],
  // Wildcards and descent.
  ['.labels.*', ['web', 'backslash']],
  ['.tree.*.k', ['l', 'r']],
  ['.numbers.*', [0, 1, 2, 3, 4, 5]],
  ['.tree..k', ['top', 'l', 'r', 'd']],
  ['.ports..port', [80, 53, 9090]],
  // Filters.
  ['.conditions[?(@.type=="Ready")].status', ['True']],
  [".conditions[?(@.type=='Ready')].status", ['True']],
  ['.conditions[?(@.type == "Ready")].status', ['True']],
  ['.conditions[?(@.type!="Ready")].type', ['Synced']],
  ['.conditions[?(@.reason=="x==y")].type', ['Ready']],
  ['.conditions[?(@.type==")")].type', []],
  ['.conditions[?(@.type=="None")].status', []],
  ['.conditions[?(@.reason)].type', ['Ready']],
  ['.ports[?(@.port>80)].name', ['metrics']],
  ['.ports[?(@.port>=80)].name', ['http', 'metrics']],
  ['.ports[?(@.port<80)].name', ['dns']],
  ['.ports[?(@.port<=53)].name', ['dns']],
  ['.ports[?(@.udp==true)].name', ['dns']],
  ['.ports[?(@.name>"dns")].name', ['http', 'metrics']],
  ['.conditions[?(@.weight==1.5)].type', undefined as never],
  ['.numbers[?(@>3)]', [4, 5]],
  ['.ports[?(@.none=="x")].name', []],
  // An index that is out of bounds leaves the list itself behind, which exists.
  ['.conditions[?(@.status[7])].type', ['Ready', 'Synced']],
  // Several actions: the first counts.
  ['.name}{.flag', ['web']],
  ['.name} text {.flag', ['web']],
])('%s is read as client-go reads it', (path, expected) => {
  if (expected === undefined) expect(() => find(path)).toThrow('incompatible types for comparison');
  else expect(find(path)).toEqual(expected);
});

test.each([
  ['.numbers[6]', 'array index out of bounds: index 6, length 6'],
  ['.numbers[-7]', 'array index out of bounds: index -1, length 6'],
  ['.numbers[0:9]', 'array index out of bounds: index 8, length 6'],
  ['.numbers[3:1]', 'starting index 3 is greater than ending index 1'],
  ['.numbers[::0]', 'step must be > 0'],
  ['.name[0]', 'string is not array or slice'],
  ['.tree[*]', 'map[string]interface {} is not array or slice'],
  ['.tree[?(@.k)]', 'cannot be filtered'],
  ['.ports[?(@.port=="80")]', 'incompatible types for comparison'],
  ['.ports[?(@.port==80.0)]', 'incompatible types for comparison'],
  ['.ports[?(@.udp<true)]', 'invalid type for comparison'],
  ['.conditions[?(@=="x")]', 'invalid type for comparison'],
  ['.ports[?(@.port=80)]', 'unrecognized filter operator ='],
  ['.ports[?(@.*==1)]', 'can only compare one element at a time'],
  ['.name}{range .ports[*]}{.name}{end', 'unrecognized identifier range'],
  ['.name}{.numbers[9]', 'array index out of bounds'],
])('%s does not fit the object: %s', (path, why) => {
  expect(() => find(path)).toThrow(why);
});

test.each([
  ['.name[', 'unterminated array'],
  ['.name[0', 'unterminated array'],
  ['.name[x]', 'invalid array index x'],
  ['.name["x"]', 'invalid array index "x"'],
  ['.name[-]', 'array index - is not a number'],
  ['.name[99999999999999999999]', 'is not a number'],
  ['.name[?(@.x==1)', 'unclosed array expect ]'],
  ['.name[?(@.x=="1)]', 'unterminated filter'],
  ['.name "x', 'unterminated quoted string'],
  ['.name "\\q"', 'invalid syntax'],
  ['.name 1.2.3', 'cannot parse number'],
  ['....name', 'invalid multiple recursive descent'],
  ['.na\nme', 'unclosed action'],
  ['.name {', 'unrecognized character in action'],
  ['.name (', 'unrecognized character in action'],
  ['.name\\', 'unclosed action'],
])('%s is no path: %s', (path, why) => {
  expect(() => parseJsonPath(path)).toThrow(JsonPathError);
  expect(() => parseJsonPath(path)).toThrow(why);
  expect(readJsonPath(path)).toBeUndefined();
});

test('texts in quotes may have the escapes of Go', () => {
  const texts = { a: 'b"c', b: "it's", c: 'é\u{1f600}A', d: 'tab\t' };
  const list = Object.entries(texts).map(([key, text]) => ({ key, text }));
  const select = (condition: string) => find(`[?(@.text==${condition})].key`, list);
  expect(select('"b\\"c"')).toEqual(['a']);
  expect(select("'it\\'s'")).toEqual(['b']);
  expect(select('"\\u00e9\\U0001f600\\x41"')).toEqual(['c']);
  expect(select('"tab\\011"')).toEqual(['d']);
});

// Without the bound they would take days.
test('a path that multiplies what it sees ends, and soon', () => {
  const wide: JsonValue = Array.from({ length: 100 }, () => Array.from({ length: 100 }, () => [1, 2, 3]));
  const many = `.w${'[0:100,0:100]'.repeat(12)}`;
  const deep = JSON.parse(`${'{"a":'.repeat(500)}1${'}'.repeat(500)}`);
  const started = threadMs();
  expect(() => find(many, { w: Array.from({ length: 100 }, () => wide) })).toThrow('too many values');
  expect(() => find(`..a${' ..a'.repeat(20)}`, deep)).toThrow('too many values');
  expect(() => find(`.w..[0:1]${'..[0:1]'.repeat(20)}`, { w: wide })).toThrow(JsonPathError);
  expect(threadMs() - started).toBeLessThan(2000);
});

test('a budget is shared by the walks that are given it', () => {
  const budget = new JsonPathBudget(100);
  const path = parseJsonPath('.numbers[*]');
  for (let times = 0; times < 5; times += 1) path.find(OBJECT, budget);
  expect(() => {
    for (let times = 0; times < 20; times += 1) path.find(OBJECT, budget);
  }).toThrow('too many values');
});

test.each([
  ['brackets that never end', (size: number) => `.a${'['.repeat(size)}`],
  ['a long union', (size: number) => `.a[${'0,'.repeat(size / 2)}0]`],
  ['filters without an end', (size: number) => '.a[?(@.b=='.repeat(size / 10)],
  ['operators', (size: number) => `.a[?(@.b${'='.repeat(size)})]`],
  ['quoted names', (size: number) => `.a${"['.x']".repeat(size / 6)}`],
  ['backslashes', (size: number) => `.a${'\\'.repeat(size)}`],
  ['braces', (size: number) => '{.a}'.repeat(size / 4)],
])('a hostile path is read in time, or refused for its length: %s', (_name, make) => {
  const started = threadMs();
  readJsonPath(make(4000));
  expect(readJsonPath(make(3_000_000))).toBeUndefined();
  expect(threadMs() - started).toBeLessThan(1000);
});
