import type { FieldError } from '../../api/status.ts';
import { invalidValue, required, tooLong } from '../../object/field-errors.ts';
import { checkName } from '../../object/formats.ts';

const MAX_DOMAIN = 253;
const MAX_NAME = MAX_DOMAIN + 1 + MAX_DOMAIN + 1 + 63;

/** `example.com/my-signer`. The path must leave room for a namespace and a name. */
export function validateSignerName(signerName: string, path: string): FieldError[] {
  if (signerName === '') return [required(path)];
  const [domain = '', rest, ...more] = signerName.split('/');
  if (rest === undefined || more.length > 0) {
    const why = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    return [invalidValue(path, signerName, why)];
  }
  const errors = domain.length > MAX_DOMAIN ? [tooLong(path, MAX_DOMAIN)] : [];
  errors.push(...firstBadLabel(domain, 'dns-label', path));
  if (!domain.includes('.')) {
    const why = 'should be a domain with at least two segments separated by dots';
    errors.push(invalidValue(path, domain, why));
  }
  errors.push(...firstBadLabel(rest, 'dns-subdomain', path));
  if (signerName.length > MAX_NAME) errors.push(tooLong(path, MAX_NAME));
  return errors;
}

/** One bad label says enough; the next would say the same. */
function firstBadLabel(value: string, rule: 'dns-label' | 'dns-subdomain', path: string): FieldError[] {
  for (const label of value.split('.')) {
    const reasons = checkName(label, rule);
    if (reasons.length === 0) continue;
    return reasons.map((why) =>
      invalidValue(path, value, `validating label ${JSON.stringify(label)}: ${why}`),
    );
  }
  return [];
}
