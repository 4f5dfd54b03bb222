import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { ingresses } from '../../src/resources/networking/ingress.ts';
import { ingressclasses } from '../../src/resources/networking/ingress-class.ts';
import { created, problemsOnCreate, problemsOnUpdate } from '../kit/manifests.ts';
import { problemsOnStatus } from '../kit/status.ts';

const SUBDOMAIN = 'a lowercase RFC 1123 subdomain must consist of';
const backend = { service: { name: 'web', port: { number: 80 } } };

/** Messages are cut where they begin to quote long rules. */
const short = (lines: readonly string[]): string[] =>
  lines.map((line) => line.replace(/( must consist of) .*/, '$1'));

describe('ingresses', () => {
  const ingress = (spec: JsonObject, annotations: JsonObject = {}): JsonObject => ({
    metadata: { annotations },
    spec,
  });
  const problems = (spec: JsonObject): string[] => short(problemsOnCreate(ingresses, ingress(spec)));
  const paths = (...given: JsonObject[]): string[] => problems({ rules: [{ http: { paths: given } }] });
  const ending = (defaultBackend: JsonObject): string[] => problems({ defaultBackend });
  const CLASS = 'kubernetes.io/ingress.class';

  test('are rules by host and path, or one backend for all', () => {
    const resource = { apiGroup: 'example.com', kind: 'Bucket', name: 'static' };
    expect(ending({ resource })).toEqual([]);
    expect(
      problems({
        ingressClassName: 'nginx',
        tls: [{ hosts: ['*.example.com', 'a.example.com'], secretName: 'cert' }, {}],
        rules: [
          { host: '*.example.com', http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } },
          { http: { paths: [{ pathType: 'ImplementationSpecific', backend }] } },
          { host: 'b.example.com' },
        ],
      }),
    ).toEqual([]);
  });

  test('have a rule or a backend', () => {
    expect(problems({})).toEqual([
      'spec: Invalid value: []networking.IngressRule(nil): either `defaultBackend` or `rules` must be specified',
    ]);
    expect(problems({ rules: [{ http: {} }] })).toEqual(['spec.rules[0].http.paths: Required value']);
  });

  test('have hosts that are names', () => {
    const hosts = ['1.2.3.4', 'A', 'a.*.b'];
    const named = problems({
      ingressClassName: '_',
      rules: hosts.map((host) => ({ host })),
      tls: [{ hosts: ['B', '*'], secretName: 'C' }],
    });
    expect(named.map((line) => line.replace(/, followed by.*/, ''))).toEqual([
      `spec.ingressClassName: Invalid value: "_": ${SUBDOMAIN}`,
      'spec.rules[0].host: Invalid value: "1.2.3.4": must be a DNS name, not an IP address',
      `spec.rules[1].host: Invalid value: "A": ${SUBDOMAIN}`,
      `spec.rules[2].host: Invalid value: "a.*.b": a wildcard DNS-1123 subdomain must start with '*.'`,
      `spec.tls[0].hosts[0]: Invalid value: "B": ${SUBDOMAIN}`,
      `spec.tls[0].hosts[1]: Invalid value: "*": a wildcard DNS-1123 subdomain must start with '*.'`,
      `spec.tls[0].secretName: Invalid value: "C": ${SUBDOMAIN}`,
    ]);
  });

  test('have paths that are absolute and plain', () => {
    const at = (index: number): string => `spec.rules[0].http.paths[${index}]`;
    expect(
      paths(
        { backend },
        { path: 'a', pathType: 'Exact', backend },
        { path: '/a//b/..', pathType: 'Prefix', backend },
        { path: 'b', pathType: 'ImplementationSpecific', backend },
        { path: 'c', pathType: 'Regex', backend },
        { path: '/%2f/.', pathType: 'Prefix', backend },
      ),
    ).toEqual([
      `${at(0)}.pathType: Required value: pathType must be specified`,
      `${at(1)}.path: Invalid value: "a": must be an absolute path`,
      `${at(2)}.path: Invalid value: "/a//b/..": cannot end with '/..'`,
      `${at(2)}.path: Invalid value: "/a//b/..": must not contain '//'`,
      `${at(3)}.path: Invalid value: "b": must be an absolute path`,
      `${at(4)}.pathType: Unsupported value: "Regex": supported values: "Exact", "ImplementationSpecific", "Prefix"`,
      `${at(5)}.path: Invalid value: "/%2f/.": cannot end with '/.'`,
      `${at(5)}.path: Invalid value: "/%2f/.": must not contain '%2f'`,
    ]);
  });

  test('have backends of one sort', () => {
    const resource = { kind: 'Bucket', name: 'static' };
    const port = (given: JsonObject): string[] => ending({ service: { name: 'web', port: given } });
    const path = 'spec.defaultBackend';
    expect(ending({})).toEqual([`${path}: Invalid value: "": resource or service backend is required`]);
    expect(paths({ pathType: 'Exact', path: '/' })).toEqual([
      'spec.rules[0].http.paths[0].backend: Invalid value: "": resource or service backend is required',
    ]);
    expect(ending({ ...backend, resource })).toEqual([
      `${path}: Invalid value: "": cannot set both resource and service backends`,
    ]);
    expect(ending({ resource: { apiGroup: 'A', kind: 'a/b' } })).toEqual([
      `${path}.resource.apiGroup: Invalid value: "A": ${SUBDOMAIN}`,
      `${path}.resource.kind: Invalid value: "a/b": may not contain '/'`,
      `${path}.resource.name: Required value: name is required`,
    ]);
    expect(ending({ resource })).toEqual([]);
    expect(ending({ service: { port: { number: 1 } } })).toEqual([`${path}.service.name: Required value`]);
    expect(port({})).toEqual([`${path}: Required value: port name or number is required`]);
    expect(port({ name: 'a', number: 1 })).toEqual([
      `${path}: Invalid value: "": cannot set both port name & port number`,
    ]);
    expect(port({ name: 'a--b' })).toEqual([
      `${path}.service.port.name: Invalid value: "a--b": must not contain consecutive hyphens`,
    ]);
    expect(port({ number: 70_000 })).toEqual([
      `${path}.service.port.number: Invalid value: 70000: must be between 1 and 65535, inclusive`,
    ]);
  });

  test('name one class when they are new, and may differ later', () => {
    const spec = { defaultBackend: backend, ingressClassName: 'a' };
    const twice = ingress(spec, { [CLASS]: 'b' });
    expect(problemsOnCreate(ingresses, twice)).toEqual([
      `annotations.${CLASS}: Invalid value: "b": must match \`ingressClassName\` when both are specified`,
    ]);
    expect(problemsOnUpdate(ingresses, ingress(spec), twice)).toEqual([]);
  });

  test('warn of the annotation for the class when they are new', () => {
    const annotated = created(ingresses, ingress({ defaultBackend: backend }, { [CLASS]: 'b' }));
    expect(ingresses.strategy.warnings?.(annotated, undefined)).toEqual([
      `annotation "${CLASS}" is deprecated, please use 'spec.ingressClassName' instead`,
    ]);
    expect(ingresses.strategy.warnings?.(annotated, annotated)).toEqual([]);
  });

  test('have a status with addresses and names', () => {
    const status = (...points: JsonObject[]): string[] =>
      short(
        problemsOnStatus(ingresses, ingress({ defaultBackend: backend }), {
          loadBalancer: { ingress: points },
        }),
      );
    expect(status({ ip: '192.0.2.1' }, { hostname: 'lb.example.com' })).toEqual([]);
    const path = 'status.loadBalancer.ingress';
    expect(status({ ip: 'x' }, { hostname: '10.0.0.1' }, { hostname: 'A' })).toEqual([
      `${path}[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`,
      `${path}[1].hostname: Invalid value: "10.0.0.1": must be a DNS name, not an IP address`,
      `${path}[2].hostname: Invalid value: "A": ${SUBDOMAIN}`,
    ]);
  });

  test('are shown as kubectl does', () => {
    const row = (spec: JsonObject, points: JsonObject[] = []): unknown =>
      ingresses.cells(
        { ...created(ingresses, ingress(spec)), status: { loadBalancer: { ingress: points } } },
        0,
      );
    const hosts = (...names: string[]): JsonObject => ({ rules: names.map((host) => ({ host })) });
    expect(row({ defaultBackend: backend })).toEqual(['it', '<none>', '*', '', '80', '<unknown>']);
    const tls = { ...hosts('a', 'b', 'c'), tls: [{}], ingressClassName: 'nginx' };
    expect(row(tls, [{ ip: '192.0.2.2' }, { ip: '192.0.2.1' }])).toEqual([
      'it',
      'nginx',
      'a,b,c',
      '192.0.2.1,192.0.2.2',
      '80, 443',
      '<unknown>',
    ]);
    expect(row(hosts('a', 'b', 'c', 'd', 'e'))).toContain('a,b,c + 2 more...');
  });
});

describe('ingress classes', () => {
  const problems = (spec: JsonObject): string[] => short(problemsOnCreate(ingressclasses, { spec }));
  const controller = 'example.com/ingress';
  const ref = { apiGroup: 'example.com', kind: 'Settings', name: 'external' };
  const parameters = (given: JsonObject): string[] => problems({ controller, parameters: given });

  test('name a controller and perhaps its parameters', () => {
    expect(problems({ controller })).toEqual([]);
    expect(parameters(ref)).toEqual([]);
    expect(parameters({ ...ref, scope: 'Namespace', namespace: 'default' })).toEqual([]);
    expect(created(ingressclasses, { spec: { controller, parameters: ref } }).spec).toEqual({
      controller,
      parameters: { ...ref, scope: 'Cluster' },
    });
  });

  test('have a controller that is a path after a domain, for good', () => {
    const path = 'spec.controller';
    expect(problems({})).toEqual([`${path}: Required value`]);
    for (const value of ['a', '/a', 'a/']) {
      expect(problems({ controller: value })).toEqual([
        `${path}: Invalid value: "${value}": must be a domain-prefixed path (such as "acme.io/foo")`,
      ]);
    }
    expect(problems({ controller: 'A/b c' })).toEqual([
      `${path}: Invalid value: "A": ${SUBDOMAIN}`,
      `${path}: Invalid value: "b c": Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')`,
    ]);
    expect(problems({ controller: `a/${'b'.repeat(249)}` })).toEqual([
      `${path}: Too long: must have at most 250 bytes`,
    ]);
    const other = { spec: { controller: 'example.com/other' } };
    expect(problemsOnUpdate(ingressclasses, { spec: { controller } }, other)).toEqual([
      `${path}: Invalid value: "example.com/other": field is immutable`,
    ]);
  });

  test('say the namespace of parameters exactly when these are in one', () => {
    const path = 'spec.parameters';
    expect(parameters({ kind: 'a', scope: 'World' })).toEqual([
      `${path}.name: Required value: name is required`,
      `${path}.scope: Unsupported value: "World": supported values: "Cluster", "Namespace"`,
    ]);
    expect(parameters({ ...ref, namespace: 'default' })).toEqual([
      `${path}.namespace: Forbidden: \`parameters.scope\` is set to 'Cluster'`,
    ]);
    expect(parameters({ ...ref, scope: 'Namespace' })).toEqual([
      `${path}.namespace: Required value: \`parameters.scope\` is set to 'Namespace'`,
    ]);
    expect(parameters({ ...ref, scope: 'Namespace', namespace: 'A' })).toEqual([
      `${path}.namespace: Invalid value: "A": a lowercase RFC 1123 label must consist of`,
    ]);
  });

  test('are shown with both', () => {
    const row = (spec: JsonObject): unknown => ingressclasses.cells(created(ingressclasses, { spec }), 0);
    expect(row({ controller })).toEqual(['it', controller, '<none>', '<unknown>']);
    expect(row({ controller, parameters: ref })).toContain('Settings.example.com/external');
  });
});
