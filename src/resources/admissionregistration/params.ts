import type {
  MutatingAdmissionPolicyBinding,
  ParamKind,
  ParamRef,
  ValidatingAdmissionPolicyBinding,
} from '../../api/types/admissionregistration/v1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { checkName } from '../../object/text-formats.ts';
import { age, selectorText } from '../cells.ts';
import { column, nameColumn, type Table } from '../define.ts';
import { mustBeLabelSelector } from '../rules/labels.ts';
import { mustBeName, mustBeNameInOneError, mustBeOneOf } from '../rules/name-rules.ts';

type Binding = MutatingAdmissionPolicyBinding | ValidatingAdmissionPolicyBinding;

/** The parameters of policies: their kind, and the objects that a binding chooses. */

export const paramKindText = (kind: ParamKind | undefined): string =>
  kind === undefined ? '<unset>' : `${kind.apiVersion ?? ''}/${kind.kind ?? ''}`;

export function validateParamKind(at: FieldPath, { apiVersion = '', kind = '' }: ParamKind): void {
  validateApiVersion(at.field('apiVersion'), apiVersion);
  if (kind === '') at.field('kind').required();
  else validateKind(at.field('kind'), kind);
}

/** `v1` or `apps/v1`. */
function validateApiVersion(at: FieldPath, apiVersion: string): void {
  const pieces = apiVersion.split('/');
  if (apiVersion === '') {
    at.required();
    return;
  }
  if (pieces.length > 2) {
    at.invalid(apiVersion, `unexpected GroupVersion string: ${apiVersion}`);
    return;
  }
  const [group, version] = pieces.length === 2 ? pieces : ['', apiVersion];
  if (group) mustBeNameInOneError(at, group, 'dns-subdomain');
  if (version) mustBeNameInOneError(at, version, 'dns-1035-label');
  else at.invalid(apiVersion, 'version must be specified');
}

function validateKind(at: FieldPath, kind: string): void {
  const problems = checkName(kind.toLowerCase(), 'dns-1035-label');
  if (problems.length > 0)
    at.invalid(kind, `may have mixed case, but should otherwise match: ${problems.join(',')}`);
}

// `namespace/name`, `*/name` where it is unknown whether the kind is namespaced, or the selector.
function paramRefText({ name = '', namespace, selector }: ParamRef = {}): string {
  if (name !== '') return `${namespace || '*'}/${name}`;
  return selector === undefined ? '<unset>' : selectorText(selector);
}

/** The table of bindings, for both kinds of policies. */
export const bindingTable: Table<Binding> = {
  columns: [nameColumn(), column('PolicyName'), column('ParamRef'), column('Age')],
  cells: (binding, now) => [
    binding.metadata.name ?? '',
    binding.spec?.policyName ?? '',
    paramRefText(binding.spec?.paramRef),
    age(binding, now),
  ],
};

const NOT_FOUND_ACTIONS = ['Deny', 'Allow'];

export function validateParamRef(at: FieldPath, ref: ParamRef): void {
  const { name = '', selector, parameterNotFoundAction: action = '' } = ref;
  if (name !== '') mustBeName(at.field('name'), name, 'path-segment');
  mustBeLabelSelector(at.field('selector'), selector);
  if (name !== '' && selector !== undefined) {
    at.field('name').forbidden('name and selector are mutually exclusive');
    at.field('selector').forbidden('name and selector are mutually exclusive');
  }
  if (name === '' && selector === undefined) at.required('one of name or selector must be specified');
  if (action === '') at.field('parameterNotFoundAction').required();
  else mustBeOneOf(at.field('parameterNotFoundAction'), action, NOT_FOUND_ACTIONS);
}
