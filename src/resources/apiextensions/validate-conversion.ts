import { X509Certificate } from 'node:crypto';
import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { forbiddenField, invalidValue, notSupported, required } from '../../object/field-errors.ts';
import { part, text } from '../../object/parts.ts';
import { certificatesIn } from '../../x509/pem.ts';
import { has } from '../validation/fields.ts';
import { strings } from '../validation/values.ts';
import { validateReviewVersions, validateWebhookClient } from '../validation/webhook-client.ts';

/** Between the versions of a resource: nothing but apiVersion differs, or a webhook is asked. Paths leave `webhook` out, as Kubernetes does. */

const CLIENT = 'spec.conversion.webhookClientConfig';
const VERSIONS = 'spec.conversion.conversionReviewVersions';
const STRATEGIES = ['None', 'Webhook'] as const;

export function validateConversion(spec: JsonObject): FieldError[] {
  const conversion = part(spec, 'conversion');
  const strategy = text(conversion.strategy);
  const errors: FieldError[] = [];
  if (spec.preserveUnknownFields === true && strategy !== 'None') {
    const why = 'must be None if spec.preserveUnknownFields is true';
    errors.push(invalidValue('spec.conversion.strategy', strategy, why));
  }
  if (strategy === '') errors.push(required('spec.conversion.strategy'));
  else if (!STRATEGIES.some((known) => known === strategy))
    errors.push(notSupported('spec.conversion.strategy', strategy, STRATEGIES));
  const webhook = part(conversion, 'webhook');
  return [...errors, ...(strategy === 'Webhook' ? validateWebhook(webhook) : refuseWebhook(webhook))];
}

function validateWebhook(webhook: JsonObject): FieldError[] {
  const client = has(webhook, 'clientConfig')
    ? validateWebhookClient(part(webhook, 'clientConfig'), CLIENT)
    : [required(CLIENT, 'required when strategy is set to Webhook')];
  const versions =
    strings(webhook, 'conversionReviewVersions').length === 0
      ? [required(VERSIONS)]
      : validateReviewVersions(webhook, 'conversionReviewVersions', VERSIONS);
  return [...client, ...versions];
}

function refuseWebhook(webhook: JsonObject): FieldError[] {
  const why = 'should not be set when strategy is not set to Webhook';
  return [
    ...(has(webhook, 'clientConfig') ? [forbiddenField(CLIENT, why)] : []),
    ...(strings(webhook, 'conversionReviewVersions').length > 0 ? [forbiddenField(VERSIONS, why)] : []),
  ];
}

/** Certificates that cannot be read are put up with until the resource is established, and where they were before. */
export function validateAuthorities(definition: ApiObject, old: ApiObject): FieldError[] {
  const before = authoritiesOf(old);
  const bundle = authoritiesOf(definition);
  if (bundle === '' || whyNoBundle(bundle) === undefined) return [];
  if (before !== '' && whyNoBundle(before) !== undefined) return [];
  return [invalidValue(`${CLIENT}.caBundle`, bundle, whyNoBundle(bundle) ?? '')];
}

const authoritiesOf = (definition: ApiObject): string =>
  text(part(definition, 'spec', 'conversion', 'webhook', 'clientConfig').caBundle);

function whyNoBundle(bundle: string): string | undefined {
  const certificates = certificatesIn(Buffer.from(bundle, 'base64').toString('latin1'));
  const why = 'unable to load root certificates: unable to parse bytes as PEM block';
  try {
    return certificates.map((der) => new X509Certificate(der)).length > 0 ? undefined : why;
  } catch {
    return why;
  }
}
