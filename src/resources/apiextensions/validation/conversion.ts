import { X509Certificate } from 'node:crypto';
import type { CustomResourceDefinitionSpec, WebhookConversion } from '../../../api/types/apiextensions/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { certificatesIn } from '../../../x509/pem.ts';
import { mustBeOneOf } from '../../rules/names.ts';
import { mustBeReviewVersions, validateWebhookClient } from '../../rules/webhook-client.ts';

/**
 * Between the versions of a resource: nothing but apiVersion differs, or a webhook is asked. The paths of its fields leave
 * `webhook` out, as Kubernetes does.
 */

const STRATEGIES = ['None', 'Webhook'];

/** `at` is the spec. */
export function validateConversion(at: FieldPath, spec: CustomResourceDefinitionSpec): void {
  const { strategy = '', webhook = {} } = spec.conversion ?? {};
  const path = at.field('conversion');
  if (spec.preserveUnknownFields === true && strategy !== 'None')
    path.field('strategy').invalid(strategy, 'must be None if spec.preserveUnknownFields is true');
  if (strategy === '') path.field('strategy').required();
  else mustBeOneOf(path.field('strategy'), strategy, STRATEGIES);
  if (strategy === 'Webhook') validateWebhook(path, webhook);
  else mustNotBeGiven(path, webhook);
}

function validateWebhook(at: FieldPath, { clientConfig, conversionReviewVersions }: WebhookConversion): void {
  const client = at.field('webhookClientConfig');
  const versions = at.field('conversionReviewVersions');
  if (clientConfig === undefined) client.required('required when strategy is set to Webhook');
  else validateWebhookClient(client, clientConfig);
  const given = conversionReviewVersions ?? [];
  if (given.length === 0) versions.required();
  else mustBeReviewVersions(versions, given);
}

function mustNotBeGiven(at: FieldPath, { clientConfig, conversionReviewVersions }: WebhookConversion): void {
  const why = 'should not be set when strategy is not set to Webhook';
  if (clientConfig !== undefined) at.field('webhookClientConfig').forbidden(why);
  if ((conversionReviewVersions ?? []).length > 0) at.field('conversionReviewVersions').forbidden(why);
}

/** Certificates that cannot be read are allowed until the resource is established, and where they were before. `at` is the spec. */
export function validateAuthorities(
  at: FieldPath,
  spec: CustomResourceDefinitionSpec,
  old: CustomResourceDefinitionSpec,
): void {
  const bundle = authoritiesOf(spec);
  const problem = bundleProblem(bundle);
  if (problem === undefined || bundleProblem(authoritiesOf(old)) !== undefined) return;
  at.field('conversion').field('webhookClientConfig').field('caBundle').invalid(bundle, problem);
}

const authoritiesOf = ({ conversion }: CustomResourceDefinitionSpec): string =>
  conversion?.webhook?.clientConfig?.caBundle ?? '';

/** An absent bundle is none that could be wrong. */
function bundleProblem(bundle: string): string | undefined {
  if (bundle === '') return undefined;
  const certificates = certificatesIn(Buffer.from(bundle, 'base64').toString('latin1'));
  const why = 'unable to load root certificates: unable to parse bytes as PEM block';
  try {
    return certificates.map((der) => new X509Certificate(der)).length > 0 ? undefined : why;
  } catch {
    return why;
  }
}
