import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import { type GoText, goList, goStruct, goValue, shown } from '../../object/go-value.ts';
import { text } from '../../object/parts.ts';
import { goIntOrString } from './notation.ts';

/** Structs of messages: every field of the type, in its order, as the internal types of Kubernetes have them. */

const struct = (type: string, fields: Readonly<Record<string, unknown>>): GoText =>
  shown(goStruct(type, fields));

/** A pointer to a number or a text. Where it points to is an address in Go, and the value itself here. */
const pointer = (type: string, value: JsonValue | undefined): GoText =>
  shown(`(*${type})(${value === undefined ? 'nil' : goValue(value)})`);

export const goToleration = ({ key, operator, value, effect, tolerationSeconds }: JsonObject): GoText =>
  struct('core.Toleration', {
    Key: text(key),
    Operator: text(operator),
    Value: text(value),
    Effect: text(effect),
    TolerationSeconds: pointer('int64', tolerationSeconds),
  });

export const goTaint = ({ key, value, effect, timeAdded }: JsonObject): GoText =>
  struct('core.Taint', {
    Key: text(key),
    Value: text(value),
    Effect: text(effect),
    TimeAdded: shown(text(timeAdded, '<nil>')),
  });

/** Kubernetes tells of two equal ports by what makes them equal. */
export const goServicePort = (protocol: JsonValue | undefined, port: JsonValue | undefined): GoText =>
  struct('core.ServicePort', {
    Name: '',
    Protocol: text(protocol),
    AppProtocol: pointer('string', undefined),
    Port: port ?? 0,
    TargetPort: shown(goIntOrString(undefined)),
    NodePort: 0,
  });

export const goNodeAddress = ({ type, address }: JsonObject): GoText =>
  struct('core.NodeAddress', { Type: text(type), Address: text(address) });

export const goRoleRef = ({ apiGroup, kind, name }: JsonObject): GoText =>
  struct('rbac.RoleRef', { APIGroup: text(apiGroup), Kind: text(kind), Name: text(name) });

export const goScopes = (scopes: JsonValue | readonly string[] | undefined): GoText =>
  shown(goList('core.ResourceQuotaScope', scopes));

export const goNodeDriver = ({ name, nodeID, topologyKeys, allocatable }: JsonObject): GoText =>
  struct('storage.CSINodeDriver', {
    Name: text(name),
    NodeID: text(nodeID),
    TopologyKeys: shown(goList('string', topologyKeys)),
    Allocatable: pointer('storage.VolumeNodeResources', allocatable),
  });

/** An address of a pod or of its node, as the path says. */
export const goAddress = (path: string, address: JsonObject | undefined): GoText =>
  struct(path.endsWith('hostIPs') ? 'core.HostIP' : 'core.PodIP', { IP: text(address?.ip) });

export const goAddresses = (path: string, addresses: readonly JsonObject[]): GoText => {
  const type = path.endsWith('hostIPs') ? 'core.HostIP' : 'core.PodIP';
  return shown(
    goList(
      type,
      addresses.map((address) => goAddress(path, address)),
    ),
  );
};

export const goParentReference = ({ group, resource, namespace, name }: JsonObject): GoText =>
  struct('networking.ParentReference', {
    Group: text(group),
    Resource: text(resource),
    Namespace: text(namespace),
    Name: text(name),
  });

export const goObjectReference = (reference: JsonObject): GoText =>
  struct('core.ObjectReference', {
    Kind: text(reference.kind),
    Namespace: text(reference.namespace),
    Name: text(reference.name),
    UID: text(reference.uid),
    APIVersion: text(reference.apiVersion),
    ResourceVersion: text(reference.resourceVersion),
    FieldPath: text(reference.fieldPath),
  });

export const goEventSource = ({ component, host }: JsonObject): GoText =>
  struct('core.EventSource', { Component: text(component), Host: text(host) });
