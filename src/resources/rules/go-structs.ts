import type {
  EventSource,
  HostIP,
  NodeAddress,
  ObjectReference,
  PodIP,
  ServicePort,
  Taint,
  Toleration,
} from '../../api/types/core/v1.ts';
import type { LabelSelector } from '../../api/types/meta/v1.ts';
import type { ParentReference } from '../../api/types/networking/v1beta1.ts';
import type { RoleRef } from '../../api/types/rbac/v1.ts';
import type { CSINodeDriver } from '../../api/types/storage/v1.ts';
import { type GoText, goList, goStrings, goStruct, goText, goValue } from '../../object/go-value.ts';

/**
 * Structs of messages that clients know by heart, as Go writes them (fmt, `%#v`): every field of the type, in its order, as the
 * internal types of Kubernetes have them.
 *
 *   spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string{"app":"web"}, …}: field is immutable
 */

const struct = (type: string, fields: Readonly<Record<string, unknown>>): GoText =>
  goText(goStruct(type, fields));

/** A pointer. Where it points to is an address in Go, and the value itself here. */
const pointer = (type: string, value: unknown): GoText =>
  goText(`(*${type})(${value === undefined ? 'nil' : goValue(value)})`);

export function goLabelSelector(selector: LabelSelector | undefined): GoText {
  if (selector === undefined) return goText('null');
  const { matchLabels, matchExpressions = [] } = selector;
  const requirements = matchExpressions.map(({ key = '', operator = '', values }) =>
    struct('v1.LabelSelectorRequirement', {
      Key: key,
      Operator: operator,
      Values: goText(goList('string', values)),
    }),
  );
  return struct('v1.LabelSelector', {
    MatchLabels: goText(goStrings(matchLabels)),
    MatchExpressions: goText(
      goList('v1.LabelSelectorRequirement', requirements.length === 0 ? undefined : requirements),
    ),
  });
}

export const goIntOrString = (value: number | string | undefined): GoText =>
  struct(
    'intstr.IntOrString',
    typeof value === 'string'
      ? { Type: 1, IntVal: 0, StrVal: value }
      : { Type: 0, IntVal: value ?? 0, StrVal: '' },
  );

export const goToleration = (toleration: Toleration): GoText => {
  const { key = '', operator = '', value = '', effect = '', tolerationSeconds } = toleration;
  return struct('core.Toleration', {
    Key: key,
    Operator: operator,
    Value: value,
    Effect: effect,
    TolerationSeconds: pointer('int64', tolerationSeconds),
  });
};

export const goTaint = ({ key = '', value = '', effect = '', timeAdded }: Taint): GoText =>
  struct('core.Taint', { Key: key, Value: value, Effect: effect, TimeAdded: goText(timeAdded ?? '<nil>') });

/** Kubernetes' message shows the fields by which ports are compared. */
export const goServicePort = ({ protocol = '', port = 0 }: ServicePort): GoText =>
  struct('core.ServicePort', {
    Name: '',
    Protocol: protocol,
    AppProtocol: pointer('string', undefined),
    Port: port,
    TargetPort: goIntOrString(undefined),
    NodePort: 0,
  });

export const goNodeAddress = ({ type = '', address = '' }: NodeAddress): GoText =>
  struct('core.NodeAddress', { Type: type, Address: address });

export const goRoleRef = ({ apiGroup = '', kind = '', name = '' }: RoleRef): GoText =>
  struct('rbac.RoleRef', { APIGroup: apiGroup, Kind: kind, Name: name });

export const goScopes = (scopes: readonly string[] | undefined): GoText =>
  goText(goList('core.ResourceQuotaScope', scopes));

export const goNodeDriver = ({ name = '', nodeID = '', topologyKeys, allocatable }: CSINodeDriver): GoText =>
  struct('storage.CSINodeDriver', {
    Name: name,
    NodeID: nodeID,
    TopologyKeys: goText(goList('string', topologyKeys)),
    Allocatable: pointer('storage.VolumeNodeResources', allocatable),
  });

type AddressType = 'core.HostIP' | 'core.PodIP';

export const goAddress = (type: AddressType, { ip = '' }: PodIP | HostIP): GoText => struct(type, { IP: ip });

export const goAddresses = (type: AddressType, addresses: readonly (PodIP | HostIP)[]): GoText =>
  goText(
    goList(
      type,
      addresses.map((address) => goAddress(type, address)),
    ),
  );

export const goParentReference = (reference: ParentReference): GoText => {
  const { group = '', resource = '', namespace = '', name = '' } = reference;
  return struct('networking.ParentReference', {
    Group: group,
    Resource: resource,
    Namespace: namespace,
    Name: name,
  });
};

export const goObjectReference = (reference: ObjectReference): GoText =>
  struct('core.ObjectReference', {
    Kind: reference.kind ?? '',
    Namespace: reference.namespace ?? '',
    Name: reference.name ?? '',
    UID: reference.uid ?? '',
    APIVersion: reference.apiVersion ?? '',
    ResourceVersion: reference.resourceVersion ?? '',
    FieldPath: reference.fieldPath ?? '',
  });

export const goEventSource = ({ component = '', host = '' }: EventSource): GoText =>
  struct('core.EventSource', { Component: component, Host: host });
