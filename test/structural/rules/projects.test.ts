import { expect, test } from 'vitest';
import type { JSONSchemaProps } from '../../../src/api/types/apiextensions/v1.ts';
import { estimateCost } from '../../../src/structural/rules/cost/estimate.ts';
import { RuleCompiler } from '../../../src/structural/rules/programs.ts';
import { typeOfSchema } from '../../../src/structural/rules/rule-types.ts';
import {
  BUDGET,
  CERT,
  CLUSTER,
  CONDITIONS,
  DURATIONS,
  FLAVORS,
  GATEWAY,
  GROUPS,
  HTTP_RULE,
  HTTP_RULES,
  LABELS,
  LABELS_OPEN,
  LISTENERS,
  PARENTS,
  PATH_MATCH,
  PODSETS,
  REQ_OPEN,
  REQUIREMENTS,
  TERMS,
} from './project-schemas.ts';

/**
 * Rules of the shapes that stand in definitions of well-known projects. Each figure is the one that Kubernetes 1.31 with cel-go
 * 0.20 answers for this schema (apiextensions-apiserver, apiserver/schema/cel, Compile; the environment of version 1.31).
 */

function costOf(schema: JSONSchemaProps, rule: string): number | string {
  const type = typeOfSchema(schema, false);
  if (type === undefined) throw new Error('expressions cannot see it');
  const { program, problem } = new RuleCompiler().compile({ rule }, type);
  return program === undefined ? problem : estimateCost(program.tree, type);
}

test.each<[string, JSONSchemaProps, number]>([
  ["self.all(l, l.protocol in ['HTTP', 'TCP', 'UDP'] ? !has(l.tls) : true)", LISTENERS, 1282],
  [
    "self.all(l, (l.protocol == 'HTTPS' && has(l.tls)) ? (l.tls.mode == '' || l.tls.mode == 'Terminate') : true)",
    LISTENERS,
    898,
  ],
  [
    "self.all(l, l.protocol in ['TCP', 'UDP'] ? (!has(l.hostname) || l.hostname == '') : true)",
    LISTENERS,
    1346,
  ],
  ['self.all(l1, self.exists_one(l2, l1.name == l2.name))', LISTENERS, 442754],
  [
    'self.all(l1, self.exists_one(l2, l1.port == l2.port && l1.protocol == l2.protocol && (has(l1.hostname) && has(l2.hostname) ? l1.hostname == l2.hostname : !has(l1.hostname) && !has(l2.hostname))))',
    LISTENERS,
    901506,
  ],
  ['self.all(l, !has(l.tls) || l.tls.certificateRefs.all(c, c.name != c.namespace))', LISTENERS, 447042],
  [
    'self.all(l, !has(l.tls) || l.tls.certificateRefs.all(c, c.kind != c.name && c.namespace.startsWith(c.name)))',
    LISTENERS,
    569922,
  ],
  [
    "self.all(l, !has(l.tls) || l.tls.options.all(k, l.tls.options[k].size() > 2 && k.contains('/')))",
    LISTENERS,
    11842,
  ],
  ["self.exists(l, l.hostname.matches('^\\\\*\\\\.[a-z0-9]+$'))", LISTENERS, 26498],
  ['self.map(l, l.name).all(n, n.size() < 10)', LISTENERS, 1293],
  ["self.filter(l, l.protocol == 'HTTPS').all(l, has(l.tls))", LISTENERS, 1293],
  ['self.filter(l, has(l.tls)).map(l, l.tls.certificateRefs).all(c, c.size() > 0)', LISTENERS, 2264],
  ['self.map(l, l.port).isSorted()', LISTENERS, 972],
  ['self.map(l, l.port).sum() > 1000', LISTENERS, 973],
  ['self.listeners.all(l, self.addresses.exists(a, a.value == l.hostname))', GATEWAY, 113027],
  [
    "self.addresses.all(a1, a1.type == 'IPAddress' ? self.addresses.exists_one(a2, a2.type == a1.type && a2.value == a1.value) : true)",
    GATEWAY,
    54947,
  ],
  ['self.gatewayClassName == oldSelf.gatewayClassName', GATEWAY, 106],
  ['self.listeners[0].tls.certificateRefs[0].name.size() > 1', GATEWAY, 9],
])('a rule of gateways and their listeners (Gateway API): %s', (rule, schema, cost) => {
  expect(costOf(schema, rule)).toBe(cost);
});

test.each<[string, JSONSchemaProps, number]>([
  [
    "self.all(p1, self.all(p2, p1.group == p2.group && p1.kind == p2.kind && p1.name == p2.name && (((!has(p1.__namespace__) || p1.__namespace__ == '') && (!has(p2.__namespace__) || p2.__namespace__ == '')) || (has(p1.__namespace__) && has(p2.__namespace__) && p1.__namespace__ == p2.__namespace__)) ? ((!has(p1.sectionName) || p1.sectionName == '') == (!has(p2.sectionName) || p2.sectionName == '')) : true))",
    PARENTS,
    301218,
  ],
  [
    'self.all(p1, self.exists_one(p2, p1.group == p2.group && p1.kind == p2.kind && p1.name == p2.name && (has(p1.__namespace__) && has(p2.__namespace__) && p1.__namespace__ == p2.__namespace__) && ((!has(p1.sectionName) && !has(p2.sectionName)) || p1.sectionName == p2.sectionName)))',
    PARENTS,
    395458,
  ],
  ["self.all(p, p.namespace == 'a')", PARENTS, 194],
  ["(self.type in ['Exact','PathPrefix']) ? self.value.startsWith('/') : true", PATH_MATCH, 17],
  ["(self.type in ['Exact','PathPrefix']) ? !self.value.contains('//') : true", PATH_MATCH, 427],
  [
    '(self.type in [\'Exact\',\'PathPrefix\']) ? self.value.matches(r"""^(?:[-A-Za-z0-9/._~!$&\'()*+,;=:@]|[%][0-9a-fA-F]{2})+$""") : true',
    PATH_MATCH,
    5756,
  ],
  ["self.type in ['Exact','PathPrefix'] || self.type == 'RegularExpression'", PATH_MATCH, 18],
  ["!self.value.endsWith('/..') && !self.value.endsWith('/.')", PATH_MATCH, 8],
  ['self.all(r, !has(r.name) || self.exists_one(s, has(s.name) && s.name == r.name))', HTTP_RULES, 28034],
  [
    '(self.size() > 0 ? self[0].matches.size() : 0) + (self.size() > 1 ? self[1].matches.size() : 0) + (self.size() > 2 ? self[2].matches.size() : 0) <= 128',
    HTTP_RULES,
    24,
  ],
  ['self.map(r, r.matches.size()).sum() <= 128', HTTP_RULES, 269],
  ["self.all(r, r.filters.filter(f, f.type == 'URLRewrite').size() <= 1)", HTTP_RULES, 4386],
  [
    '(has(self.backendRefs) && size(self.backendRefs) > 0) ? (!has(self.filters) || self.filters.all(f, !has(f.requestRedirect))): true',
    HTTP_RULE,
    90,
  ],
  [
    "(has(self.filters) && self.filters.exists_one(f, has(f.requestRedirect) && has(f.requestRedirect.path) && f.requestRedirect.path.type == 'ReplacePrefixMatch' && has(f.requestRedirect.path.replacePrefixMatch))) ? ((size(self.matches) != 1 || !has(self.matches[0].path) || self.matches[0].path.type != 'PathPrefix') ? false : true) : true",
    HTTP_RULE,
    243,
  ],
  [
    "has(self.backendRefs) ? self.backendRefs.all(b, (has(b.filters) && b.filters.exists_one(f, has(f.urlRewrite) && has(f.urlRewrite.path) && f.urlRewrite.path.type == 'ReplacePrefixMatch')) ? size(self.matches) == 1 : true) : true",
    HTTP_RULE,
    3012,
  ],
  [
    "!(self.filters.exists(f, f.type == 'RequestRedirect') && self.filters.exists(f, f.type == 'URLRewrite'))",
    HTTP_RULE,
    247,
  ],
  ["self.filters.filter(f, f.type == 'RequestHeaderModifier').size() <= 1", HTTP_RULE, 303],
  [
    "!(has(self.timeouts.request) && has(self.timeouts.backendRequest) && duration(self.timeouts.request) != duration('0s') && duration(self.timeouts.backendRequest) > duration(self.timeouts.request))",
    HTTP_RULE,
    20,
  ],
  ['self.matches.all(m, m.headers.all(h, m.queryParams.all(q, q.name != h.name)))', HTTP_RULE, 1808771],
  ['self.request > self.backendRequest', DURATIONS, 5],
  ["duration(self.text) > duration('1s')", DURATIONS, 5],
  ["duration(self.any) >= duration('1ms') && duration(self.any) <= duration('24h')", DURATIONS, 10],
  ["self.request == duration('1s')", DURATIONS, 4],
  ["self.request + self.backendRequest < duration('1h')", DURATIONS, 7],
  ['self.request.getSeconds() == 1', DURATIONS, 4],
  ["string(self.request) == '1s'", DURATIONS, 4],
  ["self.any.matches('^([0-9]{1,5}(h|m|s|ms)){1,4}$')", DURATIONS, 2516586],
])('a rule of routes, their matches and filters (Gateway API): %s', (rule, schema, cost) => {
  expect(costOf(schema, rule)).toBe(cost);
});

test.each<[string, JSONSchemaProps, number]>([
  ["self.all(x, x.operator == 'In' ? x.values.size() != 0 : true)", REQUIREMENTS, 1002],
  [
    "self.all(x, (x.operator == 'Gt' || x.operator == 'Lt') ? (x.values.size() == 1 && int(x.values[0]) >= 0) : true)",
    REQUIREMENTS,
    1802,
  ],
  [
    "self.all(x, (x.operator == 'In' && has(x.minValues)) ? x.values.size() >= x.minValues : true)",
    REQUIREMENTS,
    1302,
  ],
  [
    "self.all(x, x.key in ['a.example/b', 'c.example/d'] || !x.key.find('^([^/]+)').endsWith('example.org'))",
    REQUIREMENTS,
    27602,
  ],
  ["self.all(x, x.values.all(v, v.matches('^[a-z]+$')))", REQUIREMENTS, 6291500602],
  ["self.all(x, x.key != 'a/b' || x.values.all(v, v in ['amd64', 'arm64']))", REQUIREMENTS, 160902],
  ["self.exists(x, x.key == 'k' && x.values.exists(v, v == 'spot'))", REQUIREMENTS, 61002],
  ["self.all(x, !x.key.split('/')[0].endsWith('.k8s.io'))", REQUIREMENTS, 26102],
  ["self.all(x, x.operator == 'In' ? x.values.size() != 0 : true)", REQ_OPEN, 1209892],
  ["self.all(x, x.values.all(v, v != ''))", REQ_OPEN, 507464888636],
  ['self.all(x, self.exists_one(y, x.key == y.key))', REQ_OPEN, 4604913768491995],
  ["self.all(x, x.key.find('^([^/]+)').endsWith('node.example'))", REQ_OPEN, 76120592319],
  ['size(self) < 10', REQ_OPEN, 3],
  [
    "self.all(x, x in ['a/b', 'c/d'] || x.find('^([^/]+)').endsWith('a.b') || !x.find('^([^/]+)').endsWith('c.d'))",
    LABELS,
    2502,
  ],
  ["self.all(k, k.matches('^[a-z]$') && self[k].size() < 64)", LABELS, 1102],
  ["self.all(k, k != '')", LABELS, 402],
  ["self.exists(k, self[k] == '')", LABELS, 702],
  ["'app' in self", LABELS, 2],
  ["self['app'] == 'x'", LABELS, 3],
  ["self.app == 'x' || has(self.app)", LABELS, 4],
  ['size(self) <= 8', LABELS, 3],
  ["self.map(k, self[k]).exists(v, v == 'a')", LABELS, 2113],
  ["self.filter(k, k.startsWith('x')).size() < 5", LABELS, 1514],
  ['self.all(k, oldSelf[k] == self[k])', LABELS, 3502],
  ['oldSelf.all(k, k in self && self[k] == oldSelf[k])', LABELS, 3802],
  ['self == oldSelf', LABELS, 12],
  ["self.all(k, k.matches('^[a-z]$') && self[k].size() < 64)", LABELS_OPEN, 4325367],
  ["self.all(k, self[k] != '')", LABELS_OPEN, 2359292],
  ['self.all(k, k.size() < 5)', LABELS_OPEN, 2359292],
  ['self == oldSelf', LABELS_OPEN, 39324],
  ['oldSelf.all(k, k in self)', LABELS_OPEN, 2359292],
  ["!self.exists(k, k.startsWith('a.b/'))", LABELS_OPEN, 2359293],
  ["self.all(k, self[k].matches('^a'))", LABELS_OPEN, 123697181487],
  ['has(self.schedule) == has(self.duration)', BUDGET, 3],
  ["self.nodes.matches('^((100|[0-9]{1,2})%|[0-9]+)$')", BUDGET, 37],
  ["self.nodes.endsWith('%') ? int(self.nodes.replace('%', '')) <= 100 : int(self.nodes) >= 0", BUDGET, 15],
  ["!has(self.reasons) || self.reasons.all(r, r in ['A', 'B', 'C'])", BUDGET, 855],
  [
    "self.schedule.matches('^(@(annually|yearly|monthly|weekly|daily|midnight|hourly))|((.+)\\\\s(.+)\\\\s(.+)\\\\s(.+)\\\\s(.+))$')",
    BUDGET,
    7235181,
  ],
  ['self.all(x, has(x.tags) || has(x.id) || has(x.name))', TERMS, 182],
  ['!self.exists(x, has(x.id) && (has(x.tags) || has(x.name)))', TERMS, 213],
  [
    'self.exists(x, has(x.alias)) ? (self.exists(x, has(x.id)) ? false : self.size() == 1) : true',
    TERMS,
    307,
  ],
  ["self.all(x, !x.tags.exists(k, k == '' || x.tags[k] == ''))", TERMS, 5612],
  [
    "self.all(x, has(x.alias) ? x.alias.matches('^[a-zA-Z0-9]+@.+$') && x.alias.find('^[^@]+') in ['al2','al2023'] : true)",
    TERMS,
    5852,
  ],
])('a rule of requirements, labels and budgets of nodes (Karpenter): %s', (rule, schema, cost) => {
  expect(costOf(schema, rule)).toBe(cost);
});

test.each<[string, JSONSchemaProps, number]>([
  ["self.dnsNames.all(d, d.size() < 64 && !d.startsWith('*.*'))", CERT, 9437178],
  ['self.ipAddresses.all(i, isIP(i))', CERT, 15728853],
  ['self.ipAddresses.all(i, ip(i).family() == 4 && !ip(i).isLoopback())', CERT, 31457753],
  ['duration(self.duration) > duration(self.renewBefore)', CERT, 7],
  ['self.commonName in self.dnsNames', CERT, 1048579],
  ['self.dnsNames.exists(n, n == self.commonName)', CERT, 34602978],
  [
    "!has(self.privateKey) || self.privateKey.algorithm != 'RSA' || self.privateKey.size in [2048, 4096, 8192]",
    CERT,
    22,
  ],
  ['self.revisionHistoryLimit >= 1', CERT, 3],
  ["self.secretName == oldSelf.secretName || oldSelf.secretName == ''", CERT, 314579],
  ['sets.contains(self.dnsNames, [self.commonName])', CERT, 1048590],
  ['sets.intersects(self.dnsNames, self.ipAddresses)', CERT, 52428755],
  ['sets.equivalent(self.ipAddresses, oldSelf.ipAddresses)', CERT, 5005],
  ['self.clusterNetwork.pods.cidrBlocks.all(c, isCIDR(c))', CLUSTER, 2205],
  [
    "self.clusterNetwork.pods.cidrBlocks.all(c, cidr(c).containsIP('10.0.0.1') || cidr(c).ip().family() == 6)",
    CLUSTER,
    4905,
  ],
  ['self.clusterNetwork.services.cidrBlocks.all(c, isCIDR(c))', CLUSTER, 329857577780],
  [
    'self.clusterNetwork.pods.cidrBlocks.all(p, self.clusterNetwork.services.cidrBlocks.all(s, !cidr(p).containsCIDR(s)))',
    CLUSTER,
    32988588930805,
  ],
  ['self.clusterNetwork.pods.cidrBlocks.map(c, cidr(c)).all(c, c.prefixLength() < 28)', CLUSTER, 3716],
  [
    'has(oldSelf.controlPlaneEndpoint) ? self.controlPlaneEndpoint == oldSelf.controlPlaneEndpoint : true',
    CLUSTER,
    5,
  ],
  ["self.topology.variables.all(v, v.name != '')", CLUSTER, 5004],
  ["self.topology.version.startsWith('v') && self.topology.version.split('.').size() == 3", CLUSTER, 214],
  [
    "int(self.topology.version.split('.')[1]) - int(oldSelf.topology.version.split('.')[1]) <= 1",
    CLUSTER,
    422,
  ],
  [
    '(!has(self.controlPlaneEndpoint.host) && !has(self.controlPlaneEndpoint.port)) || (self.controlPlaneEndpoint.host.size() > 0 && self.controlPlaneEndpoint.port > 0)',
    CLUSTER,
    15,
  ],
  ['has(self.topology.class) == has(oldSelf.topology.class)', CLUSTER, 5],
  ["self.all(c, c.status == 'True' || c.reason != '')", CONDITIONS, 258],
  ["self.exists(c, c.type == 'Ready' && c.status == 'True')", CONDITIONS, 322],
  ["self.filter(c, c.type == 'Ready')[0].status == 'True'", CONDITIONS, 527],
  ["self.all(c, c.lastTransitionTime <= timestamp('2030-01-01T00:00:00Z'))", CONDITIONS, 226],
  ["self.map(c, c.lastTransitionTime).max() > timestamp('2020-01-01T00:00:00Z')", CONDITIONS, 494],
  ["self.all(c, c.status in ['True', 'False'])", CONDITIONS, 546],
  [
    'oldSelf.all(o, self.exists(c, c.type == o.type && c.observedGeneration >= o.observedGeneration))',
    CONDITIONS,
    143522,
  ],
  ['self.all(c, c.message.contains(c.reason))', CONDITIONS, 171977186],
])(
  'a rule of certificates, clusters and conditions (cert-manager, Cluster API, prometheus-operator): %s',
  (rule, schema, cost) => {
    expect(costOf(schema, rule)).toBe(cost);
  },
);

test.each<[string, JSONSchemaProps, number]>([
  ['self.all(g, g.flavors.all(f, f.resources.size() == g.coveredResources.size()))', GROUPS, 2658],
  ['self.all(g, g.flavors.all(f, f.resources.all(r, r.name in g.coveredResources)))', GROUPS, 95842],
  [
    'self.all(g, g.flavors.all(f, f.resources.all(r, r.nominalQuota == r.borrowingLimit)))',
    GROUPS,
    1288521314,
  ],
  ['self.all(f, self.exists_one(o, o.name == f.name))', FLAVORS, 80532322],
  ['self.all(f, size(f.resources.filter(r, has(r.borrowingLimit))) == 0)', FLAVORS, 3874],
  ['self.all(x, self.exists_one(y, y.name == x.name))', PODSETS, 2098],
  ['size(self.filter(p, has(p.minCount))) <= 1', PODSETS, 126],
  ['self.all(p, !has(p.minCount) || p.minCount <= p.count)', PODSETS, 82],
  ['self.map(p, p.count).sum() <= 100', PODSETS, 133],
  ['self.all(p, oldSelf.exists(o, o.name == p.name && o.count == p.count))', PODSETS, 2474],
])('a rule of queues and sets of pods (Kueue): %s', (rule, schema, cost) => {
  expect(costOf(schema, rule)).toBe(cost);
});
