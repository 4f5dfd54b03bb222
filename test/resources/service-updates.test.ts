import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { services } from '../../src/resources/core/service/definition.ts';
import { problemsOnUpdate, updated } from '../kit/manifests.ts';
import { problemsOnStatus, withStatus } from '../kit/status.ts';

const PORTS = [{ name: 'http', port: 80 }];
const IP = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';

const service = (spec: JsonObject): JsonObject => ({
  metadata: { name: 'web' },
  spec: { ports: PORTS, ...spec },
});
const updates = (before: JsonObject, after: JsonObject): string[] =>
  problemsOnUpdate(services, service(before), service(after));

describe('how a service may change', () => {
  const ASSIGNED = { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], ipFamilies: ['IPv4'] };
  const BALANCED = {
    type: 'LoadBalancer',
    ports: [{ name: 'http', port: 80, nodePort: 30_080 }],
    externalTrafficPolicy: 'Local',
    healthCheckNodePort: 30_081,
    loadBalancerClass: 'example.com/a',
  };
  const outcome = (before: JsonObject, spec: JsonObject): unknown =>
    updated(services, service(before), service(spec)).spec;

  test('the manifest it was created from keeps what was assigned since', () => {
    expect(
      outcome({ ...BALANCED, ...ASSIGNED }, { ...BALANCED, ports: PORTS, healthCheckNodePort: 0 }),
    ).toMatchObject({
      clusterIP: '10.0.0.1',
      clusterIPs: ['10.0.0.1'],
      healthCheckNodePort: 30_081,
      ports: [{ port: 80, nodePort: 30_080 }],
    });
  });

  test('an address stays once it is set', () => {
    expect(updates(ASSIGNED, { ...ASSIGNED, clusterIP: '10.0.0.2' })).toEqual([
      'spec.clusterIPs[0]: Invalid value: []string{"10.0.0.2"}: may not change once set',
    ]);
    expect(updates(ASSIGNED, { clusterIP: 'None' })).toEqual([
      'spec.clusterIPs[0]: Invalid value: []string{"None"}: may not change once set',
    ]);
    expect(updates(ASSIGNED, { ...ASSIGNED, ipFamilies: ['IPv6'] })).toEqual([
      'spec.clusterIPs[0]: Invalid value: "10.0.0.1": expected an IPv6 value as indicated by `ipFamilies[0]`',
      'spec.ipFamilies[0]: Invalid value: []core.IPFamily{"IPv6"}: may not change once set',
    ]);
  });

  test('a second address comes freely and goes with a single stack only', () => {
    const dual = { ...ASSIGNED, clusterIPs: ['10.0.0.1', 'fd00::1'], ipFamilies: ['IPv4', 'IPv6'] };
    expect(updates(ASSIGNED, { ...dual, ipFamilyPolicy: 'PreferDualStack' })).toEqual([]);
    expect(updates(dual, { ...ASSIGNED, ipFamilyPolicy: 'SingleStack' })).toEqual([]);
    expect(updates(dual, { ...ASSIGNED, ipFamilyPolicy: 'PreferDualStack' })).toEqual([
      `spec.ipFamilyPolicy: Invalid value: "PreferDualStack": must be set to 'SingleStack' when releasing the secondary clusterIP`,
      `spec.ipFamilyPolicy: Invalid value: "PreferDualStack": must be set to 'SingleStack' when releasing the secondary ipFamily`,
    ]);
  });

  test('the class and the health check port of a load balancer stay', () => {
    expect(updates(BALANCED, { ...BALANCED, loadBalancerClass: 'b', healthCheckNodePort: 30_082 })).toEqual([
      'spec.healthCheckNodePort: Forbidden: field is immutable',
      'spec.loadBalancerClass: Invalid value: "b": may not change once set',
    ]);
  });

  test('another type drops what it has no use for', () => {
    const before = { ...ASSIGNED, ...BALANCED };
    const same = { ...before, allocateLoadBalancerNodePorts: true };
    expect(outcome(before, { ...same, type: 'ClusterIP' })).toEqual({
      ...ASSIGNED,
      type: 'ClusterIP',
      ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 80 }],
      sessionAffinity: 'None',
      internalTrafficPolicy: 'Cluster',
    });
    const named = { ...same, type: 'ExternalName', externalName: 'a.example.com' };
    expect(updates(before, named)).toEqual([]);
    expect(outcome(before, named)).toMatchObject({ ports: [{ port: 80 }] });
    expect(outcome(before, named)).not.toHaveProperty('clusterIPs');
  });

  test('but not what the caller changed at the same time', () => {
    const ports = [{ name: 'http', port: 80, nodePort: 30_099 }];
    expect(updates(BALANCED, { ...BALANCED, type: 'ClusterIP', ports, loadBalancerClass: 'b' })).toEqual([
      "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'",
      "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
    ]);
  });
});

describe('the status of a service', () => {
  const BALANCED = service({ type: 'LoadBalancer' });
  const points = (...ingress: JsonObject[]): JsonObject => ({ loadBalancer: { ingress } });

  test('says that an address is its own unless it says otherwise', () => {
    const { status } = withStatus(
      services,
      BALANCED,
      points({ ip: '192.0.2.1' }, { hostname: 'lb.example.com' }),
    );
    expect(status).toEqual(points({ ip: '192.0.2.1', ipMode: 'VIP' }, { hostname: 'lb.example.com' }));
  });

  test('has good addresses and names only', () => {
    const status = points({ ip: 'x', ipMode: 'Odd' }, { hostname: '1.2.3.4' }, { ipMode: 'VIP' });
    expect(problemsOnStatus(services, BALANCED, status)).toEqual([
      `status.loadBalancer.ingress[0].ip: Invalid value: "x": ${IP}`,
      'status.loadBalancer.ingress[0].ipMode: Unsupported value: "Odd": supported values: "Proxy", "VIP"',
      'status.loadBalancer.ingress[1].hostname: Invalid value: "1.2.3.4": must be a DNS name, not an IP address',
      'status.loadBalancer.ingress[2].ipMode: Forbidden: may not be specified when `ip` is not set',
    ]);
    expect(problemsOnStatus(services, BALANCED, points({ ip: '192.0.2.1' }))).toEqual([]);
  });

  test('is about load balancers only', () => {
    expect(problemsOnStatus(services, service({}), points({ ip: '192.0.2.1' }))).toEqual([
      "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'",
    ]);
  });
});
