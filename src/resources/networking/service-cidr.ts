import type { ServiceCIDR } from '../../api/types/networking/v1beta1.ts';
import { equal } from '../../object/equality.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { goStruct } from '../../object/go-value.ts';
import { parseCidr, readStrictCidr } from '../../object/ip.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { checked, checkedUpdate } from '../rules/checked.ts';
import { mustBeCanonicalCidr } from '../rules/ip-rules.ts';

export const servicecidrs = define<ServiceCIDR>({
  group: 'networking.k8s.io',
  resource: 'servicecidrs',
  kind: 'ServiceCIDR',
  namespaced: false,
  versions: [
    { version: 'v1', type: 'networking/v1.ServiceCIDR', since: 33 },
    { version: 'v1beta1', type: 'networking/v1beta1.ServiceCIDR', enabledByDefault: false },
  ],
  storedVersion: 'v1beta1',
  emptyStatus: {},
  ignoresStatus: 'ServiceCIDRStatusFieldWiping',
  statusKeepsMetadataSince: 32,
  table: {
    columns: [nameColumn(), column('CIDRs'), column('Age')],
    cells: (serviceCidr, now) => [
      serviceCidr.metadata.name ?? '',
      (serviceCidr.spec?.cidrs ?? []).join(','),
      age(serviceCidr, now),
    ],
  },
  strategy: {
    validate: checked((at, { spec }) => {
      const rule = at.minor < 33 ? validateRanges : mustBeRanges;
      rule(at.field('spec').field('cidrs'), spec?.cidrs ?? []);
    }),
    validateUpdate: checkedUpdate((at, { spec }, old) =>
      mustKeepRanges(at.field('spec').field('cidrs'), spec?.cidrs ?? [], old.spec?.cidrs ?? []),
    ),
  },
});

/** A range of the other IP family may be added since Kubernetes 1.33. */
function mustKeepRanges(at: FieldPath, cidrs: readonly string[], old: readonly string[]): void {
  const { minor } = at;
  const grows = minor >= 33 && old.length === 1 && cidrs.length === 2;
  if (minor < 33 ? !equal(cidrs, old) : !grows && cidrs.length !== old.length) {
    at.invalid(cidrs, 'field is immutable');
    return;
  }
  for (const [path, cidr, index] of at.each(cidrs))
    if (index < old.length && cidr !== old[index]) path.invalid(cidr, 'field is immutable');
}

/** One range, or one for each IP family: each of them is judged, and then both, since Kubernetes 1.33. */
function mustBeRanges(at: FieldPath, cidrs: readonly string[]): void {
  if (cidrs.length === 0 || cidrs.length > 2) {
    validateRanges(at, cidrs);
    return;
  }
  for (const [path, cidr] of at.each(cidrs)) mustBeCanonicalCidr(path, cidr);
  const [first, second] = cidrs.map((cidr) => parseCidr(cidr)?.family);
  if (first !== undefined && first === second) at.invalid(cidrs, ONE_A_FAMILY);
}

const ONE_A_FAMILY =
  'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64';

function validateRanges(at: FieldPath, cidrs: readonly string[]): void {
  const struct = goStruct('networking.ServiceCIDRSpec', { CIDRs: cidrs });
  const families = new Set(cidrs.map((cidr) => parseCidr(cidr)?.family));
  if (cidrs.length === 0) at.required('at least one CIDR required');
  else if (cidrs.length > 2) at.invalid(struct, 'may only hold up to 2 values');
  else if (cidrs.length === 2 && (families.size < 2 || families.has(undefined)))
    at.invalid(struct, ONE_A_FAMILY);
  else for (const [path, cidr] of at.each(cidrs)) mustBeCanonical(path, cidr);
}

function mustBeCanonical(at: FieldPath, cidr: string): void {
  const reading = readStrictCidr(cidr);
  if (reading.kind === 'bad') {
    at.invalid(cidr, reading.why);
    return;
  }
  if (!reading.masked) at.invalid(cidr, "wrong CIDR format, IP doesn't match network IP address");
  if (reading.canonical !== cidr) at.invalid(cidr, 'CIDR not in RFC 5952 canonical format');
}
