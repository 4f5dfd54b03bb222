import type { FieldPath } from '../../object/field-path.ts';
import { checkName, type NameRule } from '../../object/formats.ts';

const MAX_DOMAIN = 253;
const MAX_NAME = MAX_DOMAIN + 1 + MAX_DOMAIN + 1 + 63;

/** `example.com/my-signer`. The path must leave room for a namespace and a name. */
export function mustBeSignerName(at: FieldPath, name: string): void {
  if (name === '') {
    at.required();
    return;
  }
  const [domain = '', rest, ...more] = name.split('/');
  if (rest === undefined || more.length > 0) {
    at.invalid(name, "must be a fully qualified domain and path of the form 'example.com/signer-name'");
    return;
  }
  if (domain.length > MAX_DOMAIN) at.tooLong(MAX_DOMAIN);
  mustHaveGoodLabels(at, domain, 'dns-label');
  if (!domain.includes('.'))
    at.invalid(domain, 'should be a domain with at least two segments separated by dots');
  mustHaveGoodLabels(at, rest, 'dns-subdomain');
  if (name.length > MAX_NAME) at.tooLong(MAX_NAME);
}

/** One bad label says enough; the next would say the same. */
function mustHaveGoodLabels(at: FieldPath, value: string, rule: NameRule): void {
  for (const label of value.split('.')) {
    const reasons = checkName(label, rule);
    for (const why of reasons) at.invalid(value, `validating label ${JSON.stringify(label)}: ${why}`);
    if (reasons.length > 0) return;
  }
}
