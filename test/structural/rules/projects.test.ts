import { expect, test } from 'vitest';
import type { JSONSchemaProps } from '../../../src/api/types/apiextensions/v1.ts';
import { estimateCost } from '../../../src/structural/rules/cost/estimate.ts';
import { RuleCompiler } from '../../../src/structural/rules/programs.ts';
import { typeOfSchema } from '../../../src/structural/rules/types.ts';
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

test.each<[JSONSchemaProps, string, number]>([
  [LISTENERS, "self.all(l, l.protocol in ['HTTP', 'TCP', 'UDP'] ? !has(l.tls) : true)", 1282],
  [
    LISTENERS,
    "self.all(l, (l.protocol == 'HTTPS' && has(l.tls)) ? (l.tls.mode == '' || l.tls.mode == 'Terminate') : true)",
    898,
  ],
  [
    LISTENERS,
    "self.all(l, l.protocol in ['TCP', 'UDP'] ? (!has(l.hostname) || l.hostname == '') : true)",
    1346,
  ],
  [LISTENERS, 'self.all(l1, self.exists_one(l2, l1.name == l2.name))', 442754],
  [
    LISTENERS,
    'self.all(l1, self.exists_one(l2, l1.port == l2.port && l1.protocol == l2.protocol && (has(l1.hostname) && has(l2.hostname) ? l1.hostname == l2.hostname : !has(l1.hostname) && !has(l2.hostname))))',
    901506,
  ],
  [LISTENERS, 'self.all(l, !has(l.tls) || l.tls.certificateRefs.all(c, c.name != c.namespace))', 447042],
  [
    LISTENERS,
    'self.all(l, !has(l.tls) || l.tls.certificateRefs.all(c, c.kind != c.name && c.namespace.startsWith(c.name)))',
    569922,
  ],
  [
    LISTENERS,
    "self.all(l, !has(l.tls) || l.tls.options.all(k, l.tls.options[k].size() > 2 && k.contains('/')))",
    11842,
  ],
  [LISTENERS, "self.exists(l, l.hostname.matches('^\\\\*\\\\.[a-z0-9]+$'))", 26498],
  [LISTENERS, 'self.map(l, l.name).all(n, n.size() < 10)', 1293],
  [LISTENERS, "self.filter(l, l.protocol == 'HTTPS').all(l, has(l.tls))", 1293],
  [LISTENERS, 'self.filter(l, has(l.tls)).map(l, l.tls.certificateRefs).all(c, c.size() > 0)', 2264],
  [LISTENERS, 'self.map(l, l.port).isSorted()', 972],
  [LISTENERS, 'self.map(l, l.port).sum() > 1000', 973],
  [GATEWAY, 'self.listeners.all(l, self.addresses.exists(a, a.value == l.hostname))', 113027],
  [
    GATEWAY,
    "self.addresses.all(a1, a1.type == 'IPAddress' ? self.addresses.exists_one(a2, a2.type == a1.type && a2.value == a1.value) : true)",
    54947,
  ],
  [GATEWAY, 'self.gatewayClassName == oldSelf.gatewayClassName', 106],
  [GATEWAY, 'self.listeners[0].tls.certificateRefs[0].name.size() > 1', 9],
])('a rule of gateways and their listeners (Gateway API): %#: %#', (schema, rule, cost) => {
  expect(costOf(schema, rule)).toBe(cost);
});

test.each<[JSONSchemaProps, string, number]>([
  [
    PARENTS,
    "self.all(p1, self.all(p2, p1.group == p2.group && p1.kind == p2.kind && p1.name == p2.name && (((!has(p1.__namespace__) || p1.__namespace__ == '') && (!has(p2.__namespace__) || p2.__namespace__ == '')) || (has(p1.__namespace__) && has(p2.__namespace__) && p1.__namespace__ == p2.__namespace__)) ? ((!has(p1.sectionName) || p1.sectionName == '') == (!has(p2.sectionName) || p2.sectionName == '')) : true))",
    301218,
  ],
  [
    PARENTS,
    'self.all(p1, self.exists_one(p2, p1.group == p2.group && p1.kind == p2.kind && p1.name == p2.name && (has(p1.__namespace__) && has(p2.__namespace__) && p1.__namespace__ == p2.__namespace__) && ((!has(p1.sectionName) && !has(p2.sectionName)) || p1.sectionName == p2.sectionName)))',
    395458,
  ],
  [PARENTS, "self.all(p, p.namespace == 'a')", 194],
  [PATH_MATCH, "(self.type in ['Exact','PathPrefix']) ? self.value.startsWith('/') : true", 17],
  [PATH_MATCH, "(self.type in ['Exact','PathPrefix']) ? !self.value.contains('//') : true", 427],
  [
    PATH_MATCH,
    '(self.type in [\'Exact\',\'PathPrefix\']) ? self.value.matches(r"""^(?:[-A-Za-z0-9/._~!$&\'()*+,;=:@]|[%][0-9a-fA-F]{2})+$""") : true',
    5756,
  ],
  [PATH_MATCH, "self.type in ['Exact','PathPrefix'] || self.type == 'RegularExpression'", 18],
  [PATH_MATCH, "!self.value.endsWith('/..') && !self.value.endsWith('/.')", 8],
  [HTTP_RULES, 'self.all(r, !has(r.name) || self.exists_one(s, has(s.name) && s.name == r.name))', 28034],
  [
    HTTP_RULES,
    '(self.size() > 0 ? self[0].matches.size() : 0) + (self.size() > 1 ? self[1].matches.size() : 0) + (self.size() > 2 ? self[2].matches.size() : 0) <= 128',
    24,
  ],
  [HTTP_RULES, 'self.map(r, r.matches.size()).sum() <= 128', 269],
  [HTTP_RULES, "self.all(r, r.filters.filter(f, f.type == 'URLRewrite').size() <= 1)", 4386],
  [
    HTTP_RULE,
    '(has(self.backendRefs) && size(self.backendRefs) > 0) ? (!has(self.filters) || self.filters.all(f, !has(f.requestRedirect))): true',
    90,
  ],
  [
    HTTP_RULE,
    "(has(self.filters) && self.filters.exists_one(f, has(f.requestRedirect) && has(f.requestRedirect.path) && f.requestRedirect.path.type == 'ReplacePrefixMatch' && has(f.requestRedirect.path.replacePrefixMatch))) ? ((size(self.matches) != 1 || !has(self.matches[0].path) || self.matches[0].path.type != 'PathPrefix') ? false : true) : true",
    243,
  ],
  [
    HTTP_RULE,
    "has(self.backendRefs) ? self.backendRefs.all(b, (has(b.filters) && b.filters.exists_one(f, has(f.urlRewrite) && has(f.urlRewrite.path) && f.urlRewrite.path.type == 'ReplacePrefixMatch')) ? size(self.matches) == 1 : true) : true",
    3012,
  ],
  [
    HTTP_RULE,
    "!(self.filters.exists(f, f.type == 'RequestRedirect') && self.filters.exists(f, f.type == 'URLRewrite'))",
    247,
  ],
  [HTTP_RULE, "self.filters.filter(f, f.type == 'RequestHeaderModifier').size() <= 1", 303],
  [
    HTTP_RULE,
    "!(has(self.timeouts.request) && has(self.timeouts.backendRequest) && duration(self.timeouts.request) != duration('0s') && duration(self.timeouts.backendRequest) > duration(self.timeouts.request))",
    20,
  ],
  [HTTP_RULE, 'self.matches.all(m, m.headers.all(h, m.queryParams.all(q, q.name != h.name)))', 1808771],
  [DURATIONS, 'self.request > self.backendRequest', 5],
  [DURATIONS, "duration(self.text) > duration('1s')", 5],
  [DURATIONS, "duration(self.any) >= duration('1ms') && duration(self.any) <= duration('24h')", 10],
  [DURATIONS, "self.request == duration('1s')", 4],
  [DURATIONS, "self.request + self.backendRequest < duration('1h')", 7],
  [DURATIONS, 'self.request.getSeconds() == 1', 4],
  [DURATIONS, "string(self.request) == '1s'", 4],
  [DURATIONS, "self.any.matches('^([0-9]{1,5}(h|m|s|ms)){1,4}$')", 2516586],
])('a rule of routes, their matches and filters (Gateway API): %#: %#', (schema, rule, cost) => {
  expect(costOf(schema, rule)).toBe(cost);
});

test.each<[JSONSchemaProps, string, number]>([
  [REQUIREMENTS, "self.all(x, x.operator == 'In' ? x.values.size() != 0 : true)", 1002],
  [
    REQUIREMENTS,
    "self.all(x, (x.operator == 'Gt' || x.operator == 'Lt') ? (x.values.size() == 1 && int(x.values[0]) >= 0) : true)",
    1802,
  ],
  [
    REQUIREMENTS,
    "self.all(x, (x.operator == 'In' && has(x.minValues)) ? x.values.size() >= x.minValues : true)",
    1302,
  ],
  [
    REQUIREMENTS,
    "self.all(x, x.key in ['a.example/b', 'c.example/d'] || !x.key.find('^([^/]+)').endsWith('example.org'))",
    27602,
  ],
  [REQUIREMENTS, "self.all(x, x.values.all(v, v.matches('^[a-z]+$')))", 6291500602],
  [REQUIREMENTS, "self.all(x, x.key != 'a/b' || x.values.all(v, v in ['amd64', 'arm64']))", 160902],
  [REQUIREMENTS, "self.exists(x, x.key == 'k' && x.values.exists(v, v == 'spot'))", 61002],
  [REQUIREMENTS, "self.all(x, !x.key.split('/')[0].endsWith('.k8s.io'))", 26102],
  [REQ_OPEN, "self.all(x, x.operator == 'In' ? x.values.size() != 0 : true)", 1209892],
  [REQ_OPEN, "self.all(x, x.values.all(v, v != ''))", 507464888636],
  [REQ_OPEN, 'self.all(x, self.exists_one(y, x.key == y.key))', 4604913768491995],
  [REQ_OPEN, "self.all(x, x.key.find('^([^/]+)').endsWith('node.example'))", 76120592319],
  [REQ_OPEN, 'size(self) < 10', 3],
  [
    LABELS,
    "self.all(x, x in ['a/b', 'c/d'] || x.find('^([^/]+)').endsWith('a.b') || !x.find('^([^/]+)').endsWith('c.d'))",
    2502,
  ],
  [LABELS, "self.all(k, k.matches('^[a-z]$') && self[k].size() < 64)", 1102],
  [LABELS, "self.all(k, k != '')", 402],
  [LABELS, "self.exists(k, self[k] == '')", 702],
  [LABELS, "'app' in self", 2],
  [LABELS, "self['app'] == 'x'", 3],
  [LABELS, "self.app == 'x' || has(self.app)", 4],
  [LABELS, 'size(self) <= 8', 3],
  [LABELS, "self.map(k, self[k]).exists(v, v == 'a')", 2113],
  [LABELS, "self.filter(k, k.startsWith('x')).size() < 5", 1514],
  [LABELS, 'self.all(k, oldSelf[k] == self[k])', 3502],
  [LABELS, 'oldSelf.all(k, k in self && self[k] == oldSelf[k])', 3802],
  [LABELS, 'self == oldSelf', 12],
  [LABELS_OPEN, "self.all(k, k.matches('^[a-z]$') && self[k].size() < 64)", 4325367],
  [LABELS_OPEN, "self.all(k, self[k] != '')", 2359292],
  [LABELS_OPEN, 'self.all(k, k.size() < 5)', 2359292],
  [LABELS_OPEN, 'self == oldSelf', 39324],
  [LABELS_OPEN, 'oldSelf.all(k, k in self)', 2359292],
  [LABELS_OPEN, "!self.exists(k, k.startsWith('a.b/'))", 2359293],
  [LABELS_OPEN, "self.all(k, self[k].matches('^a'))", 123697181487],
  [BUDGET, 'has(self.schedule) == has(self.duration)', 3],
  [BUDGET, "self.nodes.matches('^((100|[0-9]{1,2})%|[0-9]+)$')", 37],
  [BUDGET, "self.nodes.endsWith('%') ? int(self.nodes.replace('%', '')) <= 100 : int(self.nodes) >= 0", 15],
  [BUDGET, "!has(self.reasons) || self.reasons.all(r, r in ['A', 'B', 'C'])", 855],
  [
    BUDGET,
    "self.schedule.matches('^(@(annually|yearly|monthly|weekly|daily|midnight|hourly))|((.+)\\\\s(.+)\\\\s(.+)\\\\s(.+)\\\\s(.+))$')",
    7235181,
  ],
  [TERMS, 'self.all(x, has(x.tags) || has(x.id) || has(x.name))', 182],
  [TERMS, '!self.exists(x, has(x.id) && (has(x.tags) || has(x.name)))', 213],
  [
    TERMS,
    'self.exists(x, has(x.alias)) ? (self.exists(x, has(x.id)) ? false : self.size() == 1) : true',
    307,
  ],
  [TERMS, "self.all(x, !x.tags.exists(k, k == '' || x.tags[k] == ''))", 5612],
  [
    TERMS,
    "self.all(x, has(x.alias) ? x.alias.matches('^[a-zA-Z0-9]+@.+$') && x.alias.find('^[^@]+') in ['al2','al2023'] : true)",
    5852,
  ],
])('a rule of requirements, labels and budgets of nodes (Karpenter): %#: %#', (schema, rule, cost) => {
  expect(costOf(schema, rule)).toBe(cost);
});

test.each<[JSONSchemaProps, string, number]>([
  [CERT, "self.dnsNames.all(d, d.size() < 64 && !d.startsWith('*.*'))", 9437178],
  [CERT, 'self.ipAddresses.all(i, isIP(i))', 15728853],
  [CERT, 'self.ipAddresses.all(i, ip(i).family() == 4 && !ip(i).isLoopback())', 31457753],
  [CERT, 'duration(self.duration) > duration(self.renewBefore)', 7],
  [CERT, 'self.commonName in self.dnsNames', 1048579],
  [CERT, 'self.dnsNames.exists(n, n == self.commonName)', 34602978],
  [
    CERT,
    "!has(self.privateKey) || self.privateKey.algorithm != 'RSA' || self.privateKey.size in [2048, 4096, 8192]",
    22,
  ],
  [CERT, 'self.revisionHistoryLimit >= 1', 3],
  [CERT, "self.secretName == oldSelf.secretName || oldSelf.secretName == ''", 314579],
  [CERT, 'sets.contains(self.dnsNames, [self.commonName])', 1048590],
  [CERT, 'sets.intersects(self.dnsNames, self.ipAddresses)', 52428755],
  [CERT, 'sets.equivalent(self.ipAddresses, oldSelf.ipAddresses)', 5005],
  [CLUSTER, 'self.clusterNetwork.pods.cidrBlocks.all(c, isCIDR(c))', 2205],
  [
    CLUSTER,
    "self.clusterNetwork.pods.cidrBlocks.all(c, cidr(c).containsIP('10.0.0.1') || cidr(c).ip().family() == 6)",
    4905,
  ],
  [CLUSTER, 'self.clusterNetwork.services.cidrBlocks.all(c, isCIDR(c))', 329857577780],
  [
    CLUSTER,
    'self.clusterNetwork.pods.cidrBlocks.all(p, self.clusterNetwork.services.cidrBlocks.all(s, !cidr(p).containsCIDR(s)))',
    32988588930805,
  ],
  [CLUSTER, 'self.clusterNetwork.pods.cidrBlocks.map(c, cidr(c)).all(c, c.prefixLength() < 28)', 3716],
  [
    CLUSTER,
    'has(oldSelf.controlPlaneEndpoint) ? self.controlPlaneEndpoint == oldSelf.controlPlaneEndpoint : true',
    5,
  ],
  [CLUSTER, "self.topology.variables.all(v, v.name != '')", 5004],
  [CLUSTER, "self.topology.version.startsWith('v') && self.topology.version.split('.').size() == 3", 214],
  [
    CLUSTER,
    "int(self.topology.version.split('.')[1]) - int(oldSelf.topology.version.split('.')[1]) <= 1",
    422,
  ],
  [
    CLUSTER,
    '(!has(self.controlPlaneEndpoint.host) && !has(self.controlPlaneEndpoint.port)) || (self.controlPlaneEndpoint.host.size() > 0 && self.controlPlaneEndpoint.port > 0)',
    15,
  ],
  [CLUSTER, 'has(self.topology.class) == has(oldSelf.topology.class)', 5],
  [CONDITIONS, "self.all(c, c.status == 'True' || c.reason != '')", 258],
  [CONDITIONS, "self.exists(c, c.type == 'Ready' && c.status == 'True')", 322],
  [CONDITIONS, "self.filter(c, c.type == 'Ready')[0].status == 'True'", 527],
  [CONDITIONS, "self.all(c, c.lastTransitionTime <= timestamp('2030-01-01T00:00:00Z'))", 226],
  [CONDITIONS, "self.map(c, c.lastTransitionTime).max() > timestamp('2020-01-01T00:00:00Z')", 494],
  [CONDITIONS, "self.all(c, c.status in ['True', 'False'])", 546],
  [
    CONDITIONS,
    'oldSelf.all(o, self.exists(c, c.type == o.type && c.observedGeneration >= o.observedGeneration))',
    143522,
  ],
  [CONDITIONS, 'self.all(c, c.message.contains(c.reason))', 171977186],
])(
  'a rule of certificates, clusters and conditions (cert-manager, Cluster API, prometheus-operator): %#: %#',
  (schema, rule, cost) => {
    expect(costOf(schema, rule)).toBe(cost);
  },
);

test.each<[JSONSchemaProps, string, number]>([
  [GROUPS, 'self.all(g, g.flavors.all(f, f.resources.size() == g.coveredResources.size()))', 2658],
  [GROUPS, 'self.all(g, g.flavors.all(f, f.resources.all(r, r.name in g.coveredResources)))', 95842],
  [
    GROUPS,
    'self.all(g, g.flavors.all(f, f.resources.all(r, r.nominalQuota == r.borrowingLimit)))',
    1288521314,
  ],
  [FLAVORS, 'self.all(f, self.exists_one(o, o.name == f.name))', 80532322],
  [FLAVORS, 'self.all(f, size(f.resources.filter(r, has(r.borrowingLimit))) == 0)', 3874],
  [PODSETS, 'self.all(x, self.exists_one(y, y.name == x.name))', 2098],
  [PODSETS, 'size(self.filter(p, has(p.minCount))) <= 1', 126],
  [PODSETS, 'self.all(p, !has(p.minCount) || p.minCount <= p.count)', 82],
  [PODSETS, 'self.map(p, p.count).sum() <= 100', 133],
  [PODSETS, 'self.all(p, oldSelf.exists(o, o.name == p.name && o.count == p.count))', 2474],
])('a rule of queues and sets of pods (Kueue): %#: %#', (schema, rule, cost) => {
  expect(costOf(schema, rule)).toBe(cost);
});
