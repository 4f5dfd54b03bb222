import { expect, test } from 'vitest';
import type { ValidationRule } from '../../../src/api/types/apiextensions/v1.ts';
import { estimateCost } from '../../../src/structural/rules/cost/estimate.ts';
import { RuleCompiler } from '../../../src/structural/rules/programs.ts';
import { typeOfSchema } from '../../../src/structural/rules/rule-types.ts';
import { SPEC } from './project-schemas.ts';

/**
 * What calls and operators cost, and how mistakes are worded. Each figure and text is the one that Kubernetes 1.31 with cel-go
 * 0.20 answers (apiextensions-apiserver, apiserver/schema/cel, Compile; the environment of version 1.31).
 */

function compile(rule: ValidationRule) {
  const type = typeOfSchema(SPEC, false);
  if (type === undefined) throw new Error('expressions cannot see it');
  const { program, problem, message, messageProblem } = new RuleCompiler({
    newest: 31,
    stored: new Set(),
  }).compile(rule, type);
  return {
    rule: program === undefined ? problem : estimateCost(program.tree, type),
    message: message === undefined ? messageProblem : estimateCost(message.tree, type),
  };
}

const costOf = (rule: string): number | string => compile({ rule }).rule;

// Sizes of results: apiserver/pkg/cel/library/cost.go, EstimateCallCost; concatenation: cel-go, checker/cost.go.
test.each<[string, number]>([
  ["(self.t + '-' + self.t).matches('a')", 207],
  ['self.t.lowerAscii() == self.t', 84],
  ["self.t.upperAscii().contains('A')", 82],
  ['self.t.trim().size() == 3', 44],
  ["self.t.substring(1) == 'a'", 43],
  ['self.t.substring(0, 3) == self.t', 84],
  ["self.t.replace('a', 'bb') == self.t", 124],
  ["self.t.split(',').all(x, x == 'a')", 1683],
  ["self.t.split(',', -1).size() == 2", 84],
  ["self.texts.join(',') == 'a'", 329853068906],
  ["self.t.findAll('[a-z]+').size() > 1", 86],
  ["self.t.indexOf('a') > 1", 43],
  ["self.t.indexOf('a', 3) > 1", 43],
  ["self.t.lastIndexOf('a') > 1", 43],
  ["self.t.charAt(0) == 'a'", 4],
  ["'%s-%d'.format([self.t, self.i]).size() > 3", 17],
  ['self.t.startsWith(self.s)', 314577],
  ['self.t.endsWith(self.q)', 12],
  ['self.t < self.s', 44],
  ["self.t >= 'abc'", 3],
  ['bytes(self.t) == self.bytes', 204],
  ['self.t in self.texts', 1048579],
  ['self.t in self.mt', 5],
  ["self.t in ['a', 'b', 'c']", 15],
  ["self.t in {'a': 1}", 33],
  ['self.t in self.open', 5],
  ['self.texts.isSorted()', 329854432052],
  ['self.texts.lastIndexOf(self.t) > 1', 329854432055],
  ['self.t == oldSelf.t', 44],
  ["self.t.matches('\\\\d+')", 43],
])('of texts: %s', (rule, cost) => {
  expect(costOf(rule)).toBe(cost);
});

// Lists and macros over them: library/cost.go (lists), checker/cost.go (comprehensions).
test.each<[string, number]>([
  ["self.words.join('').size() > 1", 204],
  ["self.words.join(',') == self.s", 406],
  ['self.a.sum() + self.b.sum() > 0', 1572969],
  ['self.a.min() < self.b.max()', 1572968],
  ['self.doubles.sum() > 1.0', 13],
  ['self.words.max() == self.s', 314787],
  ["self.words.indexOf('a') == 1", 213],
  ['self.a.indexOf(1) == 1', 103],
  ['self.when.max() > self.at', 10],
  ['self.ds.sum() == self.d', 10],
  ['self.flags.min()', 12],
  ['self.iosl.isSorted()', 12],
  ['self.iosl.sum() == 1', 13],
  ["self.iosl.max() == 'a'", 13],
  ['self.iosl.indexOf(1) == 0', 13],
  ['self.nested.all(x, x.all(y, y == self.s))', 278],
  ['self.nested.map(x, x.size()).sum() > 1', 89],
  ['self.nested.all(x, x.isSorted())', 148],
  ['self.nested[0][1] == self.s', 10],
  ['self.nested.exists(x, self.t in x)', 63],
  ["self.nested == [['a']]", 23],
  ['self.min0.all(x, x > 1)', 3],
  ['self.min0.sum() > 1', 3],
  ['self.words[?0].hasValue()', 4],
  ['self.a.all(x, x in oldSelf.a)', 10603],
  ['self.a.size() >= oldSelf.a.size()', 7],
  ['[1, 2].exists(x, x == self.i)', 25],
  ["[self.t].map(x, x + 'a') == ['b']", 48],
  ['(self.on ? self.t : self.s) == self.s', 314579],
  ["(self.on ? self.t : self.q).matches('a')", 45],
  ['(self.on ? self.a : self.b).all(x, x > 1)', 7864320],
  ['(self.words + self.texts).all(x, x == self.t)', 6291516],
  ["(self.words + ['a']).all(x, x == self.s)", 80],
  ['self.words + self.words == self.texts', 9],
  ['self.words.all(w, w in self.texts)', 10485813],
  ['self.words.all(w, self.words.filter(v, v == w).size() == 1)', 3683],
  ['self.a.map(x, x > 1, x * 2).sum() < 100', 1714],
])('of lists: %s', (rule, cost) => {
  expect(costOf(rule)).toBe(cost);
});

// Maps: checker/cost.go, `@keys` and `@values`.
test.each<[string, number]>([
  ['self.sizes.all(k, self.sizes[k] > 3)', 163],
  ['self.mt.all(k, self.mt[k].size() > k.size())', 223],
  ['self.mo.all(k, self.mo[k].x == self.s)', 143],
  ["self.mo['a'].x == self.s", 10],
  ['self.mo.a.x == self.s', 314579],
  ["self.mt.map(k, self.mt[k]) == ['a']", 344],
  ["self.mt.exists_one(k, k == 'a')", 64],
  ['self.mo.exists(k, self.mo[k].n == 1)', 93],
  ['size(self.mt) + size(self.open) < 5', 8],
  ['self.mt == self.open', 6],
  ['self.mt != {}', 32],
  ['self.sizes.map(k, self.sizes[k]).sum() < 10', 354],
  ["self.mt[?'a'].orValue('x') == self.s", 314579],
  ["{'a': self.t}.a == self.s", 35],
  ["{'a': self.t}.all(k, k == self.t)", 39],
])('of maps: %s', (rule, cost) => {
  expect(costOf(rule)).toBe(cost);
});

// Where a value is of any type, all overloads are estimated: checker/cost.go, costCall.
test.each<[string, number]>([
  ['self.ios == 5', 3],
  ["self.ios == '5'", 3],
  ["type(self.ios) == int ? self.ios > 3 : self.ios.startsWith('a')", 7],
  ["type(self.ios) == string && self.ios.matches('^[0-9]+%$')", 943725],
  ['self.ios < 3', 3],
  ['self.ios + 1 > 3', 4],
  ['self.ios + self.ios == 3', 629151],
  ['self.ios > self.ios', 314577],
  ['self.ios in [1, 2]', 14],
  ['self.ios.all(x, x == 1)', 15728633],
  ["self.ios.foo == 'a'", 3],
  ["self.ios[0] == 'a'", 4],
  ['type(self.t) == string', 4],
])('of values of any type: %s', (rule, cost) => {
  expect(costOf(rule)).toBe(cost);
});

// Libraries of Kubernetes: library/cost.go.
test.each<[string, number]>([
  ["quantity(self.q).isGreaterThan(quantity('1Gi'))", 12],
  ['isQuantity(self.q) && quantity(self.q).asInteger() > 3', 22],
  ["quantity(self.q).add(quantity(self.t)).compareTo(quantity('1')) < 0", 56],
  ['sign(quantity(self.q)) > 0', 12],
  ["quantity(self.s).isLessThan(quantity('1'))", 314577],
  ['quantity(self.q).sub(1).asApproximateFloat() > 1.0', 13],
  ['quantity(self.q).isInteger()', 11],
  ['isIP(self.ip)', 20],
  ['ip(self.ip).family() == 6', 22],
  ['ip.isCanonical(self.ip)', 38],
  ['string(ip(self.ip)) == self.s', 314596],
  ['isCIDR(self.cidr)', 22],
  ['cidr(self.cidr).containsIP(self.ip)', 46],
  ['cidr(self.cidr).containsIP(ip(self.ip))', 46],
  ['cidr(self.cidr).containsCIDR(self.cidr)', 51],
  ["cidr(self.cidr).containsCIDR(cidr('10.0.0.0/8'))", 30],
  ['cidr(self.cidr).prefixLength() < 24', 24],
  ['cidr(self.cidr).ip().isGlobalUnicast()', 24],
  ['string(cidr(self.cidr)) == self.cidr', 45],
  ['string(cidr(self.cidr).masked()) == self.s', 314599],
  ['type(ip(self.ip)) == net.IP', 22],
  ["url(self.url).getScheme() == 'https'", 824],
  ["isURL(self.url) && url(self.url).getHostname().endsWith('.a')", 827],
  ['url(self.url).getHost() == self.s', 315398],
  ["'a' in url(self.url).getQuery()", 824],
  ["url(self.url).getQuery()['a'][0] == self.s", 315400],
  ["url(self.url).getPort() == '443'", 824],
  ['isURL(self.s)', 3],
  ['format.dns1123Label().validate(self.t).hasValue()', 1284],
  ["!format.named('dns1123Label').value().validate(self.t).hasValue()", 1286],
  ['!format.dns1123Subdomain().validate(self.s).hasValue()', 10066341],
  ["format.named('uri').hasValue()", 2],
  ['format.uuid().validate(self.t).orValue([]).size() == 0', 1296],
])('of quantities, addresses, locators and formats: %s', (rule, cost) => {
  expect(costOf(rule)).toBe(cost);
});

// Times and durations are scalars: checker/cost.go, isScalar.
test.each<[string, number]>([
  ["self.d > duration('1s')", 4],
  ["self.at > timestamp('2020-01-01T00:00:00Z')", 4],
  ["self.at - duration('1h') < self.at", 7],
  ['self.at - self.at < self.d', 8],
  ['self.at + self.d == self.at', 8],
  ['self.at.getFullYear() > 2000', 4],
  ["self.at.getHours('Europe/Berlin') > 3", 4],
  ['self.d.getMinutes() > 3', 4],
  ['timestamp(self.t) > self.at', 6],
  ['duration(self.t) > self.d', 6],
  ['self.at == timestamp(self.s)', 6],
  ['self.d == null', 3],
])('of times: %s', (rule, cost) => {
  expect(costOf(rule)).toBe(cost);
});

// Optional values have no path, so their sizes are unknown: checker/cost.go, costSelect.
test.each<[string, number]>([
  ["self.?t.orValue('') == self.s", 314578],
  ['self.?t.hasValue()', 3],
  ["self.?t.orValue('a').size() > 1", 5],
  ["self.?words[?0].orValue('') == self.s", 314579],
  ["self.?mo.a.x.orValue('') == self.s", 314578],
  ["self.?n2.p.q.z.orValue('') == 'a'", 4],
  ['self.?t.optMap(v, v.size()).orValue(0) > 1', 21],
  ['self.?t.optMap(v, v == self.s).orValue(false)', 21],
  ['self.?words.optMap(v, v.all(w, w == self.s)).orValue(true)', 20],
  ["self.?t.optFlatMap(v, optional.of(v + 'x')).orValue('') == self.s", 314595],
  ['optional.ofNonZeroValue(self.t).hasValue()', 4],
  ['optional.none().hasValue()', 2],
  ['optional.of(self.t).value() == self.s', 314579],
  ['self.?t.or(self.?s).hasValue()', 6],
  ['has(self.?n2.p)', 2],
  ["[?self.?t, 'a'].size() > 1", 14],
  ["{?'a': self.?t}.size() > 0", 34],
  ['self.?t.orValue(self.s) == self.s', 314580],
  ['self.?i.orValue(0) + 1 > 2', 5],
  ["self.?d.orValue(duration('0s')) < self.d", 7],
])('of optional values: %s', (rule, cost) => {
  expect(costOf(rule)).toBe(cost);
});

// Paths are slices of Go with spare room (append in costIdent and costSelect), so the field that is selected last counts.
test.each<[string, number]>([
  ['self.n2.p.q.w.all(x, x.l == x.m)', 2076],
  ['self.n2.p.q.w.all(x, x.m == x.l)', 96],
  ['self.n2.p.q.w.all(x, x.m == x.r)', 3145806],
  ['self.n2.p.q.w.all(x, x.l == x.r)', 3145806],
  ['self.n2.p.q.w.all(x, x.l.contains(x.m))', 116],
  ['self.n2.p.q.w.all(x, x.l + x.m == x.r)', 8096],
  ["self.n2.p.q.w.all(x, (x.m + x.l).matches('a'))", 166],
  ['self.n2.p.q.w.all(x, x.m.size() + x.l.size() > 1)', 116],
  ["self.n2.p.q.w.all(x, x.m.contains('a') && x.l.contains('a'))", 2096],
  ['self.n2.p.q.w.all(x, self.n2.p.q.w.exists(y, y.l == x.m))', 1096],
  ['self.n2.p.q.w[0].l == self.n2.p.q.w[0].m', 16],
  ['self.n2.p.q == oldSelf.n2.p.q', 8],
  ['self.n2.p.q.w.all(x, x.m.replace(x.l, x.m) == x.r)', 3149846],
  ['self.n2.p.q.w.all(x, x.l in [x.m, x.r])', 216],
  ['self.n2.p.q.w.all(x, [x.l, x.m].all(y, y == self.s))', 306],
  ['self.n2.p.q.w.filter(x, x.l == x.m).size() > 1', 2188],
  ['self.n2 == null', 2],
])('of fields far below: %s', (rule, cost) => {
  expect(costOf(rule)).toBe(cost);
});

// Operators of bytes and numbers, sets, names of fields: checker/cost.go and library/cost.go; a reserved word is no path.
test.each<[string, number]>([
  ['self.data < self.bytes', 104],
  ["self.data >= b'a'", 3],
  ['int(1u) == 1', 2],
  ["self.namespace == 'a'", 3],
  ['self.namespace == self.s', 314577],
  ['self.__namespace__ == self.s', 8],
  ['self.self__dash__ref == self.s', 6],
  ['sets.contains(self.a, [1, 2])', 213],
  ['sets.intersects(self.words, [self.t])', 25],
  ['optional.of(self.t).optMap(v, v.size()).value() > 1', 23],
  ["self.?t.optMap(v, v).orValue('') == self.s", 314594],
  ['self.words.map(w, [w, w]).all(m, m[0] == m[1])', 18446744073709552000],
  ["self.words.map(w, {'k': w, 'n': w}).all(m, m.k == m.n)", 18446744073709552000],
  ['self.a.filter(x, x > 1).map(x, string(x)).size() > 3', 2926],
  ["self.t.split(',').map(x, x.trim()).size() > 1", 5295],
  ['self.e == self.s', 5],
  ["self.e.matches('a')", 3],
  ['dyn(self.t) == 1', 4],
  ["self.emb.kind == 'Pod'", 4],
  ['self.emb.metadata.name == self.s', 314579],
  ['self.n2.p == null', 3],
  ["'%s'.format([self.words]) == 'a'", 14],
  ["'%.2f'.format([self.t]) == 'a'", 14],
  ["'%d%%'.format([self.ios]) == 'a'", 14],
])('of operands of all kinds: %s', (rule, cost) => {
  expect(costOf(rule)).toBe(cost);
});

// Texts of cel-go's checker (checker/errors.go), parser, and validators (cel/validator.go); the names of types of objects are left out.
test.each<[string, string]>([
  ['self.i == self.f', "8: found no matching overload for '_==_' applied to '(int, double)'"],
  ['self.i == 1.0', "8: found no matching overload for '_==_' applied to '(int, double)'"],
  [
    'self.?t.orValue(1) == 1',
    "16: found no matching overload for 'orValue' applied to 'optional_type(string).(int)'",
  ],
  ['has(self.nope)', "4: undefined field 'nope'"],
  ['self.raw == 1', "5: undefined field 'raw'"],
  ['self.emb.metadata.labels == 1', "18: undefined field 'labels'"],
  ['self.emb.spec == 1', "9: undefined field 'spec'"],
  ['cel.bind(x, self.t, x + x == self.s)', "1: undeclared reference to 'cel' (in container '')"],
  ['self.a.all(x, i, x > i)', "11: undeclared reference to 'all' (in container '')"],
  ['1 + 1.0 == 2.0', "3: found no matching overload for '_+_' applied to '(int, double)'"],
  ["self.t + 1 == 'a'", "8: found no matching overload for '_+_' applied to '(string, int)'"],
  ["self.words.sum() == 'a'", "15: found no matching overload for 'sum' applied to 'list(string).()'"],
  ['self.t', 'cel expression must evaluate to a bool'],
  ['self.i', 'cel expression must evaluate to a bool'],
  ['self.nope == 1', "5: undefined field 'nope'"],
  ['self.t.nope() == 1', "12: undeclared reference to 'nope' (in container '')"],
  ['nope(self.t)', "5: undeclared reference to 'nope' (in container '')"],
  ['self.t == 1', "8: found no matching overload for '_==_' applied to '(string, int)'"],
  [
    'self.words == self.a',
    "12: found no matching overload for '_==_' applied to '(list(string), list(int))'",
  ],
  ["self.on == 'a'", "9: found no matching overload for '_==_' applied to '(bool, string)'"],
  ["self.a == ['a']", "8: found no matching overload for '_==_' applied to '(list(int), list(string))'"],
  ["[1, 'a'].size() > 1", "5: expected type 'int' but found 'string'"],
  ["{'a': 1, 'b': 'c'}.size() > 1", "15: expected type 'int' but found 'string'"],
  ["self.on ? 1 : 'a'", "9: found no matching overload for '_?_:_' applied to '(bool, int, string)'"],
  ["self.on ? true : 'a'", "9: found no matching overload for '_?_:_' applied to '(bool, bool, string)'"],
  ["self.t.matches('(')", '16: invalid matches argument'],
  ["duration('x') == self.d", '10: invalid duration argument'],
  ["timestamp('x') == self.at", '11: invalid timestamp argument'],
  ['self.t in self.a', "8: found no matching overload for '@in' applied to '(string, list(int))'"],
  ['self.a.all(x, x)', "15: expected type 'bool' but found 'int'"],
  ["self.a.all(x, x == 'a')", "17: found no matching overload for '_==_' applied to '(int, string)'"],
  [
    "self.t.all(x, x == 'a')",
    "5: expression of type 'string' cannot be range of a comprehension (must be list, map, or dynamic)",
  ],
  [
    "self.i.all(x, x == 'a')",
    "5: expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)",
  ],
  ['self.words.all(1, true)', '16: argument must be a simple name'],
  ["self.a.exists(x, x > 'b')", "20: found no matching overload for '_>_' applied to '(int, string)'"],
  [
    "self.words[self.t] == 'a'",
    "11: found no matching overload for '_[_]' applied to '(list(string), string)'",
  ],
  ["self.mt[1] == 'a'", "8: found no matching overload for '_[_]' applied to '(map(string, string), int)'"],
  ["self.t[0] == 'a'", "7: found no matching overload for '_[_]' applied to '(string, int)'"],
  ['self.t && self.on', "5: expected type 'bool' but found 'string'"],
  ['!self.t', "1: found no matching overload for '!_' applied to '(string)'"],
  ['-self.t == 1', "1: found no matching overload for '-_' applied to '(string)'"],
  ["self.a.map(x, x).sum() == 'a'", "24: found no matching overload for '_==_' applied to '(int, string)'"],
  ['self == 1', "6: found no matching overload for '_==_' applied to '(selfType"],
  ['null == self.t', "6: found no matching overload for '_==_' applied to '(null, string)'"],
  ['self.i == null', "8: found no matching overload for '_==_' applied to '(int, null)'"],
  ['self.words == null', "12: found no matching overload for '_==_' applied to '(list(string), null)'"],
  ['size(self.i) > 1', "5: found no matching overload for 'size' applied to '(int)'"],
  ['size(self.n2) > 1', "5: found no matching overload for 'size' applied to '(selfType"],
  ['self.n2.size() > 1', "13: found no matching overload for 'size' applied to 'selfType"],
  ["self.n2.all(k, k == '')", "5: expression of type 'selfType"],
  ["'t' in self", "5: found no matching overload for '@in' applied to '(string, selfType"],
  ["string(self.n2) == 'a'", "7: found no matching overload for 'string' applied to '(selfType"],
  ["self.i.startsWith('a')", "18: found no matching overload for 'startsWith' applied to 'int.(string)'"],
  [
    "self.words.startsWith('a')",
    "22: found no matching overload for 'startsWith' applied to 'list(string).(string)'",
  ],
  [
    "startsWith(self.t, 'a')",
    "11: found no matching overload for 'startsWith' applied to '(string, string)'",
  ],
  ['self.t.size', "7: type 'string' does not support field selection"],
  ['has(self)', '5: invalid argument to has() macro'],
  ["has(self['t'])", '9: invalid argument to has() macro'],
  ["self.d == '1s'", "8: found no matching overload for '_==_' applied to '(duration, string)'"],
  ["self.at == '2020'", "9: found no matching overload for '_==_' applied to '(timestamp, string)'"],
  ['self.d > 1', "8: found no matching overload for '_>_' applied to '(duration, int)'"],
  ['self.at > self.d', "9: found no matching overload for '_>_' applied to '(timestamp, duration)'"],
  [
    'self.at + self.at == self.at',
    "9: found no matching overload for '_+_' applied to '(timestamp, timestamp)'",
  ],
  ['self.data == self.t', "11: found no matching overload for '_==_' applied to '(bytes, string)'"],
  ['self.i == 1u', "8: found no matching overload for '_==_' applied to '(int, uint)'"],
  ['self.i + 1u > 1u', "8: found no matching overload for '_+_' applied to '(int, uint)'"],
  ['self.i + self.f > 1.0', "8: found no matching overload for '_+_' applied to '(int, double)'"],
  ['self.t.split(1) == []', "13: found no matching overload for 'split' applied to 'string.(int)'"],
  ["self.a.join(',') == ''", "12: found no matching overload for 'join' applied to 'list(int).(string)'"],
  ["self.words.join(1) == ''", "16: found no matching overload for 'join' applied to 'list(string).(int)'"],
  ["self.t.replace('a') == ''", "15: found no matching overload for 'replace' applied to 'string.(string)'"],
  ["self.t.format('a') == ''", "14: found no matching overload for 'format' applied to 'string.(string)'"],
  ["ip(self.i) == ip('')", "3: found no matching overload for 'ip' applied to '(int)'"],
  [
    'cidr(self.t).containsIP(1)',
    "24: found no matching overload for 'containsIP' applied to 'net.CIDR.(int)'",
  ],
  ['quantity(self.i).isInteger()', "9: found no matching overload for 'quantity' applied to '(int)'"],
  ["url(self.i) == url('')", "4: found no matching overload for 'url' applied to '(int)'"],
  ['self.ip.family() == 4', "15: found no matching overload for 'family' applied to 'string.()'"],
  [
    "authorizer.path('/').check('get').allowed()",
    "1: undeclared reference to 'authorizer' (in container '')",
  ],
  ['oldSelf.hasValue()', "17: found no matching overload for 'hasValue' applied to 'selfType"],
  ['x == 1', "1: undeclared reference to 'x' (in container '')"],
  ['self.', "6: Syntax error: no viable alternative at input '.'"],
  [
    'self.t ==',
    "10: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
  ],
  ["self.t matches 'a'", "8: Syntax error: mismatched input 'matches' expecting <EOF>"],
  ["(self.t == 'a'", "15: Syntax error: missing ')' at '<EOF>'"],
  ["self.t = 'a'", "8: Syntax error: token recognition error at: '= '"],
  ["self.t === 'a'", "10: Syntax error: token recognition error at: '= '"],
  ['self.t and self.s', "8: Syntax error: mismatched input 'and' expecting <EOF>"],
  ['foo.bar == 1', "1: undeclared reference to 'foo' (in container '')"],
  ['self.a[0.5] == 1', "7: found no matching overload for '_[_]' applied to '(list(int), double)'"],
  ['if == 1', '1: reserved identifier: if'],
  ['self.in == 1', "6: Syntax error: no viable alternative at input '.in'"],
  ['package == 1', '1: reserved identifier: package'],
  ['self.t.min() == 1', "11: found no matching overload for 'min' applied to 'string.()'"],
  ['self.a.avg() > 1', "11: undeclared reference to 'avg' (in container '')"],
  ['math.greatest(1, 2) == 2', "1: undeclared reference to 'math' (in container '')"],
  ['lists.range(2).size() > 1', "1: undeclared reference to 'lists' (in container '')"],
  ['self.words.distinct().size() > 1', "20: undeclared reference to 'distinct' (in container '')"],
  ["self.words.slice(0,1) == ['a']", "17: undeclared reference to 'slice' (in container '')"],
  ['self.words.flatten() == []', "19: undeclared reference to 'flatten' (in container '')"],
  ['self.words.sort() == []', "16: undeclared reference to 'sort' (in container '')"],
  ['self.words.reverse() == []', "19: undeclared reference to 'reverse' (in container '')"],
  ["self.t.reverse() == ''", "15: undeclared reference to 'reverse' (in container '')"],
  ["self.words.first() == 'a'", "17: undeclared reference to 'first' (in container '')"],
  ["base64.encode(self.data) == 'a'", "1: undeclared reference to 'base64' (in container '')"],
  ['self.words.exists_one(x)', "22: undeclared reference to 'exists_one' (in container '')"],
  ['self.t.existsOne(x, true)', "17: undeclared reference to 'existsOne' (in container '')"],
  ["self.words.existsOne(x, x == 'a')", "21: undeclared reference to 'existsOne' (in container '')"],
  [
    'self.words.transformList(i, v, v) == []',
    "25: undeclared reference to 'transformList' (in container '')",
  ],
  [
    'sets.contains(self.a, self.words)',
    "14: found no matching overload for 'sets.contains' applied to '(list(int), list(string))'",
  ],
  ['self.t.optMap(v, v).hasValue()', "14: found no matching overload for 'hasValue' applied to 'string.()'"],
  [
    'self.?t.optFlatMap(v, v).hasValue()',
    "19: found no matching overload for '_?_:_' applied to '(bool, string, optional_type(dyn))'",
  ],
  ['optional.of(self.i).optMap(v, v).value()', 'cel expression must evaluate to a bool'],
  ['dyn(self.on)', 'cel expression must evaluate to a bool'],
  ['[self.on, self.ios][0]', "15: expected type 'bool' but found 'dyn'"],
  ['self.iosl.max()', 'cel expression must evaluate to a bool'],
  ['self.ios.contains(self.i)', "18: found no matching overload for 'contains' applied to 'dyn.(int)'"],
  ["self.data.hex() == 'a'", "14: undeclared reference to 'hex' (in container '')"],
  ['self.data.at(0) == 1', "13: undeclared reference to 'at' (in container '')"],
  [
    'quantity(self.q).sign() > 0',
    "22: found no matching overload for 'sign' applied to 'kubernetes.Quantity.()'",
  ],
  ['self.d[self.t] == 1', "7: found no matching overload for '_[_]' applied to '(duration, string)'"],
  [
    'self.mt[?0].hasValue()',
    "8: found no matching overload for '_[?_]' applied to '(map(string, string), int)'",
  ],
  ['self.d.?foo.hasValue()', "7: type 'duration' does not support field selection"],
  ['self.d.foo == 1', "7: type 'duration' does not support field selection"],
  ['self.words.foo == 1', "11: type 'list(string)' does not support field selection"],
  ['has(self.d.foo)', "4: type 'duration' does not support field selection"],
  ['!self.mt', "1: found no matching overload for '!_' applied to '(map(string, string))'"],
  ['[self.n2, null].size() > 1', "11: expected type 'selfType"],
  ['[1, dyn(1)].size() > 1', "8: expected type 'int' but found 'dyn'"],
  ["[[], 'a'].size() > 1", "6: expected type 'list(dyn)' but found 'string'"],
  ["{'a': 1, 'b': self.ios}.size() > 1", "19: expected type 'int' but found 'dyn'"],
  [
    'self.?t.or(self.i).hasValue()',
    "11: found no matching overload for 'or' applied to 'optional_type(string).(int)'",
  ],
  ["'%s %d'.format([self.t]) == 'a'", '15: index 1 out of range'],
  [
    "'%d'.format([self.t]) == 'a'",
    '18: error during formatting: decimal clause can only be used on integers, was given string',
  ],
  [
    "'%x'.format([self.on]) == 'a'",
    '18: error during formatting: only integers, byte buffers, and strings can be formatted as hex, was given bool',
  ],
  [
    "'%q'.format([self.t]) == 'a'",
    '12: could not parse formatting clause: unrecognized formatting clause "q"',
  ],
  [
    "'a'.format([self.t, self.t]) == 'a'",
    '11: too many arguments supplied to string.format (expected 0, got 2)',
  ],
  ["'100%'.format([self.t]) == 'a'", '14: unexpected end of string'],
  [
    "'%d'.format([self.f]) == 'a'",
    '18: error during formatting: decimal clause can only be used on integers, was given double',
  ],
  [
    "'%.2f'.format([self.i]) == 'a'",
    '20: error during formatting: fixed-point clause can only be used on doubles, was given int',
  ],
  [
    "'%e'.format([self.on]) == 'a'",
    '18: error during formatting: scientific clause can only be used on doubles, was given bool',
  ],
  [
    "'%b'.format([self.t]) == 'a'",
    '18: error during formatting: only integers and bools can be formatted as binary, was given string',
  ],
  [
    "'%o'.format([self.t]) == 'a'",
    '18: error during formatting: octal clause can only be used on integers, was given string',
  ],
  [
    "'%s'.format([[quantity(self.q)]]) == 'a'",
    '23: error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given kubernetes.Quantity',
  ],
  ['self.?d.foo.hasValue()', "8: type 'duration' does not support field selection"],
  ["self.t == 'a' ? true", "21: Syntax error: mismatched input '<EOF>' expecting ':'"],
])('%s is refused', (rule, problem) => {
  const prefix = problem.startsWith('cel ') ? '' : 'compilation failed: ERROR: <input>:1:';
  const [line = ''] = String(costOf(rule)).split('\n');
  expect(problem.endsWith('selfType') ? line.slice(0, prefix.length + problem.length) : line).toBe(
    prefix + problem,
  );
});

test('a rule without text is left to the rules of definitions', () => {
  expect(compile({ rule: ' ', messageExpression: '1' })).toEqual({ rule: '', message: '' });
});

// compilation.go: a message must be a text, and one of any type is none.
test.each<[string, number | string]>([
  ["'a'", 0],
  ["'t is ' + self.t", 43],
  ['self.s', 2],
  ["self.on ? 'a' : self.t", 4],
  ["'%d'.format([self.i])", 13],
  ["'too many: %d, words: %s'.format([self.a.size(), self.words.join(', ')])", 220],
  ['1', 'messageExpression must evaluate to a string'],
  ['self.nope', "messageExpression compilation failed: ERROR: <input>:1:5: undefined field 'nope'"],
  [
    'self.t +',
    "messageExpression compilation failed: ERROR: <input>:1:9: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
  ],
  [
    "'a' + 1",
    "messageExpression compilation failed: ERROR: <input>:1:5: found no matching overload for '_+_' applied to '(string, int)'",
  ],
  ['self.ios', 'messageExpression must evaluate to a string'],
  ['string(self.ios)', 314575],
  ['self.raw', "messageExpression compilation failed: ERROR: <input>:1:5: undefined field 'raw'"],
  ['oldSelf.t + self.t', 84],
  ["self.?t.orValue('')", 3],
  ["dyn('a')", 'messageExpression must evaluate to a string'],
  ['self.iosl[0]', 'messageExpression must evaluate to a string'],
  ['[1]', 'messageExpression must evaluate to a string'],
  ["''", 0],
  [
    ' ',
    "messageExpression compilation failed: ERROR: <input>:1:2: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
  ],
  ['self.on', 'messageExpression must evaluate to a string'],
  ["self.t.lowerAscii() + ' must be ' + oldSelf.t.upperAscii()", 206],
])('a message %s', (messageExpression, expected) => {
  const { message } = compile({ rule: 'true', messageExpression });
  expect(typeof message === 'string' ? message.split('\n')[0] : message).toBe(expected);
});

// compilation.go, prepareEnvSet: an optional old value has no sizes.
test.each<[string, number | string]>([
  ['oldSelf.hasValue() ? oldSelf.value().i <= self.i : true', 8],
  ['!oldSelf.hasValue()', 3],
  ['oldSelf.optMap(o, o.t == self.t).orValue(true)', 60],
  ["oldSelf.?t.orValue('') == self.t", 45],
  [
    'oldSelf.t == self.t',
    "compilation failed: ERROR: <input>:1:11: found no matching overload for '_==_' applied to '(optional_type(string), string)'",
  ],
  ['oldSelf.value().t == self.t', 5],
  ['oldSelf.orValue(self).t == self.t', 6],
  ['oldSelf.words.hasValue()', 2],
  ['has(oldSelf.t)', 1],
])('with an optional old value: %s', (rule, expected) => {
  const cost = compile({ rule, optionalOldSelf: true }).rule;
  expect(typeof cost === 'string' ? cost.split('\n')[0] : cost).toBe(expected);
});
