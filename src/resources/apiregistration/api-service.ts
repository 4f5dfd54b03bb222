import type {
  APIService,
  APIServiceCondition,
  APIServiceSpec,
  ServiceReference,
} from '../../api/types/apiregistration/v1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { checkPort } from '../../object/text-formats.ts';
import { toTimestamp } from '../../object/timestamps.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { checked } from '../rules/checked.ts';
import { mustBeName, mustBeOneOf, mustHaveTexts } from '../rules/name-rules.ts';

export const apiservices = define<APIService>({
  group: 'apiregistration.k8s.io',
  resource: 'apiservices',
  kind: 'APIService',
  namespaced: false,
  categories: ['api-extensions'],
  versions: [{ version: 'v1', type: 'apiregistration/v1.APIService' }],
  emptyStatus: {},
  statusResets: [['spec'], ['metadata']],
  validateStatus: checked(validateStatus),
  table: {
    columns: [nameColumn(), column('Service'), column('Available'), column('Age')],
    cells: (api, now) => [
      api.metadata.name ?? '',
      serviceText(api.spec?.service),
      availableText(api),
      age(api, now),
    ],
  },
  strategy: {
    finalizersNeedDomains: false,
    nameRule: 'path-segment',
    allowUnconditionalUpdate: false,
    prepareForCreate: (api) => {
      api.status = api.spec?.service === undefined ? { conditions: [localCondition()] } : {};
    },
    validate: checked(validate),
  },
});

const serviceText = (service: ServiceReference | undefined): string =>
  service === undefined ? 'Local' : `${service.namespace ?? ''}/${service.name ?? ''}`;

function availableText({ status }: APIService): string {
  const available = status?.conditions?.find(({ type }) => type === 'Available');
  if (available === undefined) return 'Unknown';
  const { status: isAvailable = '', reason = '' } = available;
  return isAvailable === 'True' || reason === '' ? isAvailable : `${isAvailable} (${reason})`;
}

/** A group that this server serves itself is available as long as the server is. */
const localCondition = (): APIServiceCondition => ({
  type: 'Available',
  status: 'True',
  lastTransitionTime: toTimestamp(new Date()),
  reason: 'Local',
  message: 'Local APIServices are always available',
});

const MAX_GROUP_PRIORITY = 20000;
const MAX_VERSION_PRIORITY = 1000;

function validate(root: FieldPath, { metadata, spec = {} }: APIService): void {
  const { name = '' } = metadata;
  const { group = '', version = '', service } = spec;
  const at = root.field('spec');
  const wanted = `${version}.${group}`;
  const why = `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`;
  if (name !== wanted) root.field('metadata').field('name').invalid(name, why);
  validateGroupVersion(at, group, version);
  mustBePriority(at.field('groupPriorityMinimum'), spec.groupPriorityMinimum ?? 0, MAX_GROUP_PRIORITY);
  mustBePriority(at.field('versionPriority'), spec.versionPriority ?? 0, MAX_VERSION_PRIORITY);
  if (service === undefined) validateLocal(at, spec);
  else validateRemote(at, spec, service);
}

/** Only the legacy group, which has the version v1 alone, has no name. */
function validateGroupVersion(at: FieldPath, group: string, version: string): void {
  if (group !== '') mustBeName(at.field('group'), group, 'dns-subdomain');
  else if (version !== 'v1')
    at.field('group').required('only v1 may have an empty group and it better be legacy kube');
  mustBeName(at.field('version'), version, 'dns-1035-label');
}

function mustBePriority(at: FieldPath, priority: number, most: number): void {
  if (priority <= 0 || priority > most) at.invalid(priority, `must be positive and less than ${most}`);
}

function validateLocal(at: FieldPath, { caBundle = '', insecureSkipTLSVerify }: APIServiceSpec): void {
  if (caBundle !== '') {
    const size = `${Buffer.from(caBundle, 'base64').length} bytes`;
    at.field('caBundle').invalid(size, 'local APIServices may not have a caBundle');
  }
  if (insecureSkipTLSVerify === true)
    at.field('insecureSkipTLSVerify').invalid(true, 'local APIServices may not have insecureSkipTLSVerify');
}

function validateRemote(at: FieldPath, spec: APIServiceSpec, service: ServiceReference): void {
  const { caBundle = '', insecureSkipTLSVerify } = spec;
  const { port = 0 } = service;
  const path = at.field('service');
  const wrong = checkPort(port);
  mustHaveTexts(path, service, ['namespace', 'name']);
  if (wrong.length > 0) path.field('port').invalid(port, `port is not valid: ${wrong.join(', ')}`);
  if (insecureSkipTLSVerify === true && caBundle !== '')
    at.field('insecureSkipTLSVerify').invalid(true, 'may not be true if caBundle is present');
}

const STATUSES = ['True', 'False', 'Unknown'];

function validateStatus(root: FieldPath, { status = {} }: APIService): void {
  for (const [at, { status: isMet = '' }] of root.field('status').field('conditions').each(status.conditions))
    mustBeOneOf(at.field('status'), isMet, STATUSES);
}
