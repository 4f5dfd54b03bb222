import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { services } from '../../src/resources/core/service/definition.ts';
import { created, problemsOnCreate } from '../kit/manifests.ts';

const PORTS = [{ name: 'http', port: 80 }];
const LABEL_1123 =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an " +
  "alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const IP = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const CIDR = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

const service = (spec: JsonObject, annotations?: JsonObject): JsonObject => ({
  metadata: { name: 'web', ...(annotations === undefined ? {} : { annotations }) },
  spec: { ports: PORTS, ...spec },
});
const problems = (spec: JsonObject, annotations?: JsonObject): string[] =>
  problemsOnCreate(services, service(spec, annotations));
const specOf = (spec: JsonObject): unknown => created(services, service(spec)).spec;

describe('what a service may be', () => {
  const GOOD: readonly [string, JsonObject][] = [
    ['a plain one', { selector: { app: 'web' } }],
    ['headless without ports', { clusterIP: 'None', ports: [] }],
    ['an external name', { type: 'ExternalName', externalName: 'db.example.com.', ports: [] }],
    [
      'dual-stack',
      { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', 'fd00::1'], ipFamilies: ['IPv4', 'IPv6'] },
    ],
    [
      'one port number in two protocols',
      {
        ports: [
          { name: 'a', port: 53 },
          { name: 'b', port: 53, protocol: 'UDP' },
        ],
      },
    ],
    [
      'a load balancer',
      {
        type: 'LoadBalancer',
        loadBalancerClass: 'example.com/big',
        loadBalancerSourceRanges: [' 10.0.0.0/8 '],
        externalTrafficPolicy: 'Local',
        healthCheckNodePort: 30_000,
      },
    ],
    ['sticky', { sessionAffinity: 'ClientIP', trafficDistribution: 'PreferClose' }],
    ['with an external address', { externalIPs: ['192.0.2.1'], externalTrafficPolicy: 'Local' }],
  ];
  test.each(GOOD)('%s', (_, spec) => {
    expect(problems(spec)).toEqual([]);
  });

  const BAD: readonly [string, JsonObject, string[]][] = [
    ['no ports', { ports: [] }, ['spec.ports: Required value']],
    [
      'an unknown type',
      { type: 'Funny' },
      [
        'spec.type: Unsupported value: "Funny": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
      ],
    ],
    [
      'unnamed ports beside others',
      { ports: [{ port: 1 }, { port: 2 }] },
      ['spec.ports[0].name: Required value', 'spec.ports[1].name: Required value'],
    ],
    [
      'ports of the same name',
      {
        ports: [
          { name: 'a', port: 1 },
          { name: 'a', port: 2 },
        ],
      },
      ['spec.ports[1].name: Duplicate value: "a"'],
    ],
    [
      'a bad name, number, target and protocol',
      { ports: [{ name: 'A', port: 0, targetPort: 'no--port', appProtocol: '_', protocol: 'ICMP' }] },
      [
        `spec.ports[0].appProtocol: Invalid value: "_": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
        `spec.ports[0].name: Invalid value: "A": ${LABEL_1123}`,
        'spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive',
        'spec.ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"',
        'spec.ports[0].targetPort: Invalid value: "no--port": must not contain consecutive hyphens',
      ],
    ],
    [
      'the same port twice',
      {
        ports: [
          { name: 'a', port: 1 },
          { name: 'b', port: 1 },
        ],
      },
      [
        'spec.ports[1]: Duplicate value: core.ServicePort{Name:"", Protocol:"TCP", AppProtocol:(*string)(nil), Port:1, TargetPort:intstr.IntOrString{Type:0, IntVal:0, StrVal:""}, NodePort:0}',
      ],
    ],
    [
      'the same node port twice',
      {
        type: 'NodePort',
        ports: [
          { name: 'a', port: 1, nodePort: 30_001 },
          { name: 'b', port: 2, nodePort: 30_001 },
        ],
      },
      ['spec.ports[1].nodePort: Duplicate value: 30001'],
    ],
    [
      'a node port without the type',
      { ports: [{ port: 1, nodePort: 30_001 }] },
      ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
    ],
    [
      'a headless node port',
      { type: 'NodePort', clusterIP: 'None' },
      [`spec.clusterIPs[0]: Invalid value: "None": may not be set to 'None' for NodePort services`],
    ],
    [
      "the agent's port for the world",
      { type: 'LoadBalancer', ports: [{ port: 10_250 }] },
      [
        'spec.ports[0]: Invalid value: 10250: may not expose port 10250 externally since it is used by kubelet',
      ],
    ],
    [
      'an external name without the name',
      { type: 'ExternalName', clusterIP: '10.0.0.1', ipFamilies: ['IPv4'] },
      [
        'spec.clusterIPs: Forbidden: may not be set for ExternalName services',
        'spec.externalName: Required value',
        'spec.ipFamilies: Forbidden: may not be set for ExternalName services',
      ],
    ],
    [
      'bad labels to select by',
      { selector: { app: 'no spaces' } },
      [
        `spec.selector: Invalid value: "no spaces": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
      ],
    ],
    [
      'affinity for too long',
      { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 86_401 } } },
      [
        'spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be greater than 0 and less than 86400',
      ],
    ],
    [
      'special external addresses',
      { externalIPs: ['x', '127.0.0.1', '0.0.0.0', '169.254.1.1', '224.0.0.5', 'fe80::1', '::1'] },
      [
        `spec.externalIPs[0]: Invalid value: "x": ${IP}`,
        'spec.externalIPs[1]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
        'spec.externalIPs[2]: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)',
        'spec.externalIPs[3]: Invalid value: "169.254.1.1": may not be in the link-local range (169.254.0.0/16, fe80::/10)',
        'spec.externalIPs[4]: Invalid value: "224.0.0.5": may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)',
        'spec.externalIPs[5]: Invalid value: "fe80::1": may not be in the link-local range (169.254.0.0/16, fe80::/10)',
        'spec.externalIPs[6]: Invalid value: "::1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
      ],
    ],
    [
      'fields of load balancers',
      {
        loadBalancerClass: 'a',
        allocateLoadBalancerNodePorts: true,
        loadBalancerSourceRanges: ['x'],
        healthCheckNodePort: 1,
        externalTrafficPolicy: 'Local',
      },
      [
        "spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'",
        `spec.LoadBalancerSourceRanges[0]: Invalid value: "x": ${CIDR}`,
        "spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when `type` is 'LoadBalancer'",
        'spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services',
        "spec.healthCheckNodePort: Invalid value: 1: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
        "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'",
      ],
    ],
    [
      'unknown policies',
      { internalTrafficPolicy: 'Far', trafficDistribution: 'Far', ipFamilyPolicy: 'Three' },
      [
        'spec.internalTrafficPolicy: Unsupported value: "Far": supported values: "Cluster", "Local"',
        'spec.ipFamilyPolicy: Unsupported value: "Three": supported values: "PreferDualStack", "RequireDualStack", "SingleStack"',
        'spec.trafficDistribution: Unsupported value: "Far": supported values: "PreferClose"',
      ],
    ],
    [
      'addresses that do not agree',
      { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.2'] },
      ['spec.clusterIPs: Invalid value: []string{"10.0.0.2"}: first value must match `clusterIP`'],
    ],
    [
      'a list of addresses alone',
      { clusterIPs: ['10.0.0.2'] },
      [
        'spec.clusterIPs: Invalid value: []string{"10.0.0.2"}: must be empty when `clusterIP` is not specified',
      ],
    ],
    ['an address that is none', { clusterIP: 'foo' }, [`spec.clusterIPs[0]: Invalid value: "foo": ${IP}`]],
    [
      'None among others',
      { clusterIP: 'None', clusterIPs: ['None', '10.0.0.1'] },
      [
        `spec.clusterIPs: Invalid value: []string{"None", "10.0.0.1"}: 'None' must be the first and only value`,
      ],
    ],
    [
      'two addresses of a family',
      { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', '10.0.0.2'] },
      [
        'spec.clusterIPs: Invalid value: []string{"10.0.0.1", "10.0.0.2"}: may specify no more than one IP for each IP family',
      ],
    ],
    [
      'an address of another family',
      { clusterIP: '10.0.0.1', ipFamilies: ['IPv6'] },
      [
        'spec.clusterIPs[0]: Invalid value: "10.0.0.1": expected an IPv6 value as indicated by `ipFamilies[0]`',
      ],
    ],
    [
      'families twice and unknown',
      { ipFamilies: ['IPv4', 'IPv4', 'IPv5'] },
      [
        'spec.ipFamilies[1]: Duplicate value: "IPv4"',
        'spec.ipFamilies[2]: Unsupported value: "IPv5": supported values: "IPv4", "IPv6"',
      ],
    ],
  ];
  test.each(BAD)('not with %s', (_, spec, lines) => {
    expect(problems(spec)).toEqual(lines);
  });

  test('not with annotations that are wrong or contradict each other', () => {
    const ranges = 'service.beta.kubernetes.io/load-balancer-source-ranges';
    expect(problems({ type: 'LoadBalancer' }, { [ranges]: '10.0.0.0/8, 10.0.0.1' })).toEqual([
      `metadata.annotations[${ranges}]: Invalid value: "10.0.0.1": ${CIDR}`,
    ]);
    const hints = 'service.kubernetes.io/topology-aware-hints';
    const mode = 'service.kubernetes.io/topology-mode';
    expect(problems({}, { [hints]: 'Auto', [mode]: 'Disabled' })).toEqual([
      `metadata.annotations[${mode}]: Invalid value: "Disabled": must match annotations[${hints}] when both are specified`,
    ]);
  });
});

describe('what a service is when nothing else is said', () => {
  test('targetPort is the port, traffic goes to the whole cluster', () => {
    expect(specOf({})).toEqual({
      ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 80 }],
      type: 'ClusterIP',
      sessionAffinity: 'None',
      internalTrafficPolicy: 'Cluster',
    });
  });

  test('sticky clients are forgotten after three hours, and others have no time at all', () => {
    expect(specOf({ sessionAffinity: 'ClientIP', sessionAffinityConfig: {} })).toMatchObject({
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } },
    });
    expect(specOf({ sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } })).not.toHaveProperty(
      'sessionAffinityConfig',
    );
  });

  test('what the outside reaches has an externalTrafficPolicy, a load balancer gets node ports', () => {
    expect(specOf({ type: 'LoadBalancer' })).toMatchObject({
      externalTrafficPolicy: 'Cluster',
      allocateLoadBalancerNodePorts: true,
    });
    expect(specOf({ externalIPs: ['192.0.2.1'] })).toMatchObject({ externalTrafficPolicy: 'Cluster' });
    expect(specOf({ type: 'ExternalName', internalTrafficPolicy: 'Local' })).not.toHaveProperty(
      'internalTrafficPolicy',
    );
  });

  test('clusterIPs follow clusterIP, and a status cannot be created', () => {
    expect(specOf({ clusterIP: '10.0.0.7' })).toMatchObject({ clusterIPs: ['10.0.0.7'] });
    const manifest = { ...service({}), status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } };
    expect(created(services, manifest).status).toEqual({ loadBalancer: {} });
  });
});

test('addresses that will mean something else bring warnings', () => {
  const warnings = (spec: JsonObject): unknown =>
    services.strategy.warnings?.(created(services, service(spec)), undefined);
  expect(warnings({ clusterIP: '010.0.0.1', externalIPs: ['2001:DB8::1'], externalName: 'a' })).toEqual([
    'spec.clusterIPs[0]: IP address was accepted, but will be invalid in a future Kubernetes release: ParseAddr("010.0.0.1"): IPv4 field has octet with leading zero',
    'spec.externalIPs[0]: IPv6 address "2001:DB8::1" is not in RFC 5952 canonical format ("2001:db8::1"), which may cause controller apply-loops',
    'spec.externalName is ignored when spec.type is not "ExternalName"',
  ]);
  expect(
    warnings({ type: 'LoadBalancer', loadBalancerSourceRanges: ['2001:DB8::/32', '10.0.0.0/8'] }),
  ).toEqual([
    'spec.loadBalancerSourceRanges[0]: IPv6 prefix "2001:DB8::/32" is not in RFC 5952 canonical format ("2001:db8::/32"), which may cause controller apply-loops',
  ]);
  expect(warnings({ clusterIP: 'None' })).toEqual([]);
});

test('a table shows services as kubectl does', () => {
  const row = (spec: JsonObject, status?: JsonObject): unknown =>
    services.cells({ ...created(services, service(spec)), ...(status === undefined ? {} : { status }) }, 0);
  expect(row({ selector: { b: '2', a: '1' } })).toEqual([
    'web',
    'ClusterIP',
    '<none>',
    '<none>',
    '80/TCP',
    '<unknown>',
    'a=1,b=2',
  ]);
  const ingress = [{ hostname: 'lb' }, { ip: '192.0.2.9' }, { ip: '192.0.2.1' }, { ip: '192.0.2.9' }];
  const balanced = { type: 'LoadBalancer', clusterIP: '10.0.0.1', ports: [{ port: 80, nodePort: 30_080 }] };
  expect(row({ ...balanced, externalIPs: ['192.0.2.5'] }, { loadBalancer: { ingress } })).toEqual([
    'web',
    'LoadBalancer',
    '10.0.0.1',
    '192.0.2.1,192.0.2.9,lb,192.0.2.5',
    '80:30080/TCP',
    '<unknown>',
    '<none>',
  ]);
  expect(row(balanced)).toContain('<pending>');
  expect(row({ type: 'ExternalName', externalName: 'db.example.com', ports: [] })).toEqual([
    'web',
    'ExternalName',
    '<none>',
    'db.example.com',
    '<none>',
    '<unknown>',
    '<none>',
  ]);
});
