import type { Service, ServiceSpec } from '../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { goList } from '../../../object/go-value.ts';
import { isExternalName, isHeadless, isLoadBalancer, needsHealthCheckNodePort } from './kind.ts';

const CHANGED = 'may not change once set';

/** A second address or family may come and go; the first stays, except on the way from and to ExternalName. */
export function validateUpdate(root: FieldPath, { spec = {} }: Service, old: Service): void {
  const at = root.field('spec');
  const before = old.spec ?? {};
  validateAddresses(at, spec, before);
  mustKeepLoadBalancerClass(at.field('loadBalancerClass'), spec, before);
  mustKeepHealthCheck(at.field('healthCheckNodePort'), spec, before);
}

function validateAddresses(at: FieldPath, spec: ServiceSpec, before: ServiceSpec): void {
  if (isExternalName(spec) || isExternalName(before)) return;
  if (isHeadless(spec) && isHeadless(before)) return;
  mustKeepClusterIps(at, spec, before);
  if (isHeadless(spec) === isHeadless(before)) mustKeepFamilies(at, spec, before);
}

function mustKeepClusterIps(at: FieldPath, spec: ServiceSpec, before: ServiceSpec): void {
  const { clusterIPs: ips = [] } = spec;
  const { clusterIPs: old = [] } = before;
  const path = at.field('clusterIPs');
  if (old.length === ips.length) {
    for (const [item, ip, index] of path.each(old)) if (ip !== ips[index]) item.invalid(ips, CHANGED);
    return;
  }
  if (ips.length === 0) {
    path.item(0).invalid(ips, 'primary clusterIP can not be unset');
    return;
  }
  if (old.length > 0 && old[0] !== ips[0]) path.item(0).invalid(ips, CHANGED);
  if (old.length > ips.length && ips.length === 1) mustBeSingleStack(at, spec, 'clusterIP');
}

function mustKeepFamilies(at: FieldPath, spec: ServiceSpec, before: ServiceSpec): void {
  const { clusterIPs: ips = [], ipFamilies: families = [] } = spec;
  const { ipFamilies: old = [] } = before;
  const path = at.field('ipFamilies').item(0);
  const display = (): unknown => goList('core.IPFamily', families);
  if (old.length === families.length) {
    for (const [index, family] of old.entries())
      if (family !== families[index]) path.invalid(display(), CHANGED);
    return;
  }
  const isReleased = old.length > families.length;
  if (isReleased && ips.length === 0) path.invalid(display(), 'primary ipFamily can not be unset');
  if (old.length > 0 && families.length > 0 && old[0] !== families[0]) path.invalid(ips, CHANGED);
  if (isReleased && families.length === 1) mustBeSingleStack(at, spec, 'ipFamily');
}

function mustBeSingleStack(at: FieldPath, { ipFamilyPolicy: policy }: ServiceSpec, released: string): void {
  if (policy !== 'SingleStack')
    at.field('ipFamilyPolicy').invalid(
      policy,
      `must be set to 'SingleStack' when releasing the secondary ${released}`,
    );
}

function mustKeepLoadBalancerClass(at: FieldPath, spec: ServiceSpec, before: ServiceSpec): void {
  const { loadBalancerClass: given } = spec;
  if (isLoadBalancer(spec) && isLoadBalancer(before) && given !== before.loadBalancerClass)
    at.invalid(given, CHANGED);
}

function mustKeepHealthCheck(at: FieldPath, spec: ServiceSpec, before: ServiceSpec): void {
  if (!needsHealthCheckNodePort(spec) || !needsHealthCheckNodePort(before)) return;
  if ((spec.healthCheckNodePort ?? 0) !== (before.healthCheckNodePort ?? 0))
    at.forbidden('field is immutable');
}
