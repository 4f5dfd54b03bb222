import type { ApiObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { readStrictCidr } from '../../../object/canonical-ip.ts';
import { invalidValue, required } from '../../../object/field-errors.ts';
import { goStruct, shown } from '../../../object/go-value.ts';
import { parseCidr } from '../../../object/ip.ts';
import { part } from '../../../object/parts.ts';
import { validateImmutableField } from '../../validation/immutable.ts';
import { strings } from '../../validation/values.ts';

const PATH = 'spec.cidrs';

/** One range, or one for each IP family. */
export function validateServiceCidr(serviceCidr: ApiObject): FieldError[] {
  const spec = part(serviceCidr, 'spec');
  const cidrs = strings(spec, 'cidrs');
  if (cidrs.length === 0) return [required(PATH, 'at least one CIDR required')];
  if (cidrs.length > 2)
    return [
      invalidValue(
        PATH,
        shown(goStruct('networking.ServiceCIDRSpec', { CIDRs: cidrs })),
        'may only hold up to 2 values',
      ),
    ];
  const families = new Set(cidrs.map((cidr) => parseCidr(cidr)?.family));
  if (cidrs.length === 2 && (families.size < 2 || families.has(undefined))) {
    const why = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64';
    return [invalidValue(PATH, shown(goStruct('networking.ServiceCIDRSpec', { CIDRs: cidrs })), why)];
  }
  return cidrs.flatMap((cidr, at) => validateCanonical(cidr, `${PATH}[${at}]`));
}

export const validateServiceCidrUpdate = (serviceCidr: ApiObject, old: ApiObject): FieldError[] =>
  validateImmutableField(PATH, part(serviceCidr, 'spec').cidrs, part(old, 'spec').cidrs);

function validateCanonical(cidr: string, path: string): FieldError[] {
  const reading = readStrictCidr(cidr);
  if (reading.kind === 'bad') return [invalidValue(path, cidr, reading.why)];
  const errors: FieldError[] = [];
  if (!reading.masked) {
    errors.push(invalidValue(path, cidr, "wrong CIDR format, IP doesn't match network IP address"));
  }
  if (reading.canonical !== cidr) {
    errors.push(invalidValue(path, cidr, 'CIDR not in RFC 5952 canonical format'));
  }
  return errors;
}
