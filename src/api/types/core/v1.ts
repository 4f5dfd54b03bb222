// Written from src/api/idl/core/v1.proto by the build. Change that file, not this one.

import type { JsonValue } from '../../json.ts';
import type { Condition, LabelSelector, ListMeta, ObjectMeta, OwnerReference } from '../meta/v1.ts';

/** A disk of AWS Elastic Block Store. Nodes mount it through the CSI driver ebs.csi.aws.com. */
export type AWSElasticBlockStoreVolumeSource = {
  /** ID of the disk in AWS, such as vol-0123456789abcdef0. */
  volumeID?: string;
  /** Type of the file system on the volume, such as ext4 or xfs. ext4 unless set. */
  fsType?: string;
  /** Number of the partition to mount, counted from 1. 0 or absent mounts the whole disk. */
  partition?: number;
  /** Mount the volume read-only. False unless set. */
  readOnly?: boolean;
};

/** Rules about where a pod may or should be placed. All of them are looked at only when the pod is scheduled. */
export type Affinity = {
  /** Rules about the nodes. */
  nodeAffinity?: NodeAffinity;
  /** Pods to be near, such as in the same zone. */
  podAffinity?: PodAffinity;
  /** Pods to keep away from, such as on the same node. */
  podAntiAffinity?: PodAntiAffinity;
};

/** Which AppArmor profile confines the processes of a container. */
export type AppArmorProfile = {
  /** Localhost takes one that the node has loaded, RuntimeDefault that of the container runtime, Unconfined none. */
  type?: string;
  /** Name of the profile, which every node that may run the pod needs. Required for Localhost, not allowed otherwise. */
  localhostProfile?: string;
};

/** An attached volume and its device. */
export type AttachedVolume = {
  /** Name of the volume, as built by its plugin or driver. */
  name?: string;
  /** Path of the device on the node. May be empty. */
  devicePath?: string;
};

/** Pods that a node would rather not run. The scheduler takes no notice of it any more. */
export type AvoidPods = {
  /** One entry for each controller whose pods should go elsewhere. */
  preferAvoidPods?: PreferAvoidPodsEntry[];
};

/** A data disk of Azure. Nodes mount it through the CSI driver disk.csi.azure.com. */
export type AzureDiskVolumeSource = {
  /** Name of the disk. */
  diskName?: string;
  /** URI of the disk: the resource ID of a managed disk, or the address of the blob. */
  diskURI?: string;
  /** How the host caches the disk: None, ReadOnly or ReadWrite. ReadWrite unless set. */
  cachingMode?: string;
  /** Type of the file system on the volume, such as ext4 or xfs. ext4 unless set. */
  fsType?: string;
  /** Mount the volume read-only. False unless set. */
  readOnly?: boolean;
  /** Shared: several blob disks to a storage account; Dedicated: one to an account; Managed: a managed disk. Shared unless set. */
  kind?: string;
};

/** A file share of Azure, for persistent volumes. Nodes mount it through the CSI driver file.csi.azure.com. */
export type AzureFilePersistentVolumeSource = {
  /** Name of the secret with the name and key of the storage account. */
  secretName?: string;
  /** Name of the share. */
  shareName?: string;
  /** Mount the volume read-only. False unless set. */
  readOnly?: boolean;
  /** Namespace of the secret. That of the claim unless set. */
  secretNamespace?: string;
};

/** A file share of Azure. Nodes mount it through the CSI driver file.csi.azure.com. */
export type AzureFileVolumeSource = {
  /** Name of the secret with the name and key of the storage account, in the namespace of the pod. */
  secretName?: string;
  /** Name of the share. */
  shareName?: string;
  /** Mount the volume read-only. False unless set. */
  readOnly?: boolean;
};

/** Ties one object to another: a pod to the node it is to run on. */
export type Binding = {
  kind: string;
  apiVersion: string;
  /** Name and namespace of the pod. Annotations given here are added to it. */
  metadata: ObjectMeta;
  /** The node the pod is to run on. */
  target?: ObjectReference;
};

/** A volume of a CSI driver. */
export type CSIPersistentVolumeSource = {
  /** Name of the driver, such as ebs.csi.aws.com. Cannot be changed. */
  driver?: string;
  /** What the driver calls the volume. Passed with every call; cannot be changed. */
  volumeHandle?: string;
  /** Publish the volume as read-only. False unless set. */
  readOnly?: boolean;
  /** Type of the file system on the volume, such as ext4 or xfs. The driver decides unless set. */
  fsType?: string;
  /** Attributes of the volume, passed to the driver as they are. */
  volumeAttributes?: { [key: string]: string };
  /** Secret passed to the driver when the volume is attached to or detached from a node. None unless set. */
  controllerPublishSecretRef?: SecretReference;
  /** Secret passed to the driver when the volume is prepared on a node. None unless set. */
  nodeStageSecretRef?: SecretReference;
  /** Secret passed to the driver when the volume is mounted for a pod. None unless set. */
  nodePublishSecretRef?: SecretReference;
  /** Secret passed to the driver's controller when the volume grows. None unless set. */
  controllerExpandSecretRef?: SecretReference;
  /** Secret passed to the driver on the node when the volume grows. None unless set. */
  nodeExpandSecretRef?: SecretReference;
};

/** A volume that a CSI driver makes for one pod and that goes with it. */
export type CSIVolumeSource = {
  /** Name of the driver. It must offer inline volumes. */
  driver?: string;
  /** Mount the volume read-only. False unless set. */
  readOnly?: boolean;
  /** Type of the file system on the volume, such as ext4 or xfs. The driver decides unless set. */
  fsType?: string;
  /** Attributes of the volume, passed to the driver as they are. Which ones there are, its documentation says. */
  volumeAttributes?: { [key: string]: string };
  /** Secret of the pod's namespace, passed to the driver when the volume is mounted and unmounted. None unless set. */
  nodePublishSecretRef?: LocalObjectReference;
};

/** Linux capabilities added to and taken from what the container runtime grants. */
export type Capabilities = {
  /** Capabilities to add, such as NET_ADMIN, without CAP_. ALL means all. */
  add?: string[];
  /** Capabilities to take away, such as NET_RAW, without CAP_. ALL means all. */
  drop?: string[];
};

/** A directory of a Ceph file system, for persistent volumes. No node of this version can mount it. */
export type CephFSPersistentVolumeSource = {
  /** Addresses of the Ceph monitors, as host:port. */
  monitors?: string[] | null;
  /** Directory to mount. / unless set. */
  path?: string;
  /** Ceph user to connect as. admin unless set. */
  user?: string;
  /** File on the node with the key of the user. /etc/ceph/user.secret unless set. */
  secretFile?: string;
  /** Secret with the key of the user. Takes the place of secretFile. */
  secretRef?: SecretReference;
  /** Mount the volume read-only. False unless set. */
  readOnly?: boolean;
};

/** A directory of a Ceph file system. No node of this version can mount it. */
export type CephFSVolumeSource = {
  /** Addresses of the Ceph monitors, as host:port. */
  monitors?: string[] | null;
  /** Directory to mount. / unless set. */
  path?: string;
  /** Ceph user to connect as. admin unless set. */
  user?: string;
  /** File on the node with the key of the user. /etc/ceph/user.secret unless set. */
  secretFile?: string;
  /** Secret of the pod's namespace with the key of the user. Takes the place of secretFile. */
  secretRef?: LocalObjectReference;
  /** Mount the volume read-only. False unless set. */
  readOnly?: boolean;
};

/** A volume of OpenStack Cinder, for persistent volumes. Nodes mount it through the CSI driver cinder.csi.openstack.org. */
export type CinderPersistentVolumeSource = {
  /** ID of the volume in Cinder. */
  volumeID?: string;
  /** Type of the file system on the volume, such as ext4 or xfs. ext4 unless set. */
  fsType?: string;
  /** Mount the volume read-only. False unless set. */
  readOnly?: boolean;
  /** Secret with what is needed to connect to OpenStack. None unless set. */
  secretRef?: SecretReference;
};

/** A volume of OpenStack Cinder. Nodes mount it through the CSI driver cinder.csi.openstack.org. */
export type CinderVolumeSource = {
  /** ID of the volume in Cinder. */
  volumeID?: string;
  /** Type of the file system on the volume, such as ext4 or xfs. ext4 unless set. */
  fsType?: string;
  /** Mount the volume read-only. False unless set. */
  readOnly?: boolean;
  /** Secret of the pod's namespace with what is needed to connect to OpenStack. None unless set. */
  secretRef?: LocalObjectReference;
};

/** How long a client of a service stays with the same pod. */
export type ClientIPConfig = {
  /** Seconds without traffic after which a client may get another pod; 1 to 86400. 10800, three hours, unless set. */
  timeoutSeconds?: number;
};

/** Certificates from ClusterTrustBundle objects, written to one PEM file. Takes either a name, or a signer with a selector. */
export type ClusterTrustBundleProjection = {
  /** Name of the one bundle to take. Not together with signerName or labelSelector. */
  name?: string;
  /** Take all bundles of this signer that labelSelector selects. Not together with name. */
  signerName?: string;
  /** Labels of the bundles to take. Only with signerName. Empty selects all bundles of the signer, absent none. */
  labelSelector?: LabelSelector;
  /** Write an empty file if there are no such bundles, instead of keeping the pod from starting. False unless set. */
  optional?: boolean;
  /** Path of the file within the volume. Relative, and without any .. in it. */
  path?: string;
};

/** What is known about the health of a component. The only type is Healthy. */
export type ComponentCondition = {
  /** Which aspect this entry describes. There is at most one entry of each type. */
  type?: string;
  /** Whether it holds: True, False or Unknown. */
  status?: string;
  /** Why, in a sentence for people. */
  message?: string;
  /** Error met when the component was asked. Empty if there was none. */
  error?: string;
};

/** Health of a component of the control plane. Deprecated. */
export type ComponentStatus = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** Aspects of the state, each with since when it holds. */
  conditions?: ComponentCondition[];
};

/** A list of component statuses. Deprecated. */
export type ComponentStatusList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The ComponentStatuses of this page. */
  items?: ComponentStatus[] | null;
};

/** Configuration as keys and values, for pods to read. At most 1 MiB in all; not for secrets. */
export type ConfigMap = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** True forbids any change of the data and of this field; only deleting remains. False unless set. */
  immutable?: boolean;
  /** Values as UTF-8 text. Keys may have letters, digits, dashes, underscores and dots, and must not be in binaryData as well. */
  data?: { [key: string]: string };
  /** Values as bytes, written in base64. Keys follow the rules of data and must not be there as well. */
  binaryData?: { [key: string]: string };
};

/** A config map whose keys all become environment variables. */
export type ConfigMapEnvSource = {
  /** Name of an object in the same namespace. An empty name is accepted but refers to nothing. */
  name?: string;
  /** Go on without it if the config map does not exist, instead of keeping the container from starting. False unless set. */
  optional?: boolean;
};

/** One key of a config map. */
export type ConfigMapKeySelector = {
  /** Name of an object in the same namespace. An empty name is accepted but refers to nothing. */
  name?: string;
  /** The key whose value is taken. */
  key?: string;
  /** Go on without the value if the config map or the key does not exist. False unless set. */
  optional?: boolean;
};

/** A list of config maps. */
export type ConfigMapList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The ConfigMaps of this page. */
  items?: ConfigMap[] | null;
};

/** A config map with the settings of a node agent. No longer used. */
export type ConfigMapNodeConfigSource = {
  /** Namespace of the config map. */
  namespace?: string;
  /** Name of the config map. */
  name?: string;
  /** UID of the config map. Only in the status of a node. */
  uid?: string;
  /** Revision of the config map. Only in the status of a node. */
  resourceVersion?: string;
  /** The key with the settings. */
  kubeletConfigKey?: string;
};

/** Keys of a config map as files of a projected volume. */
export type ConfigMapProjection = {
  /** Name of an object in the same namespace. An empty name is accepted but refers to nothing. */
  name?: string;
  /** Which keys become files, and under which paths. All keys, each as a file of its name, unless set. A listed key that does not exist stops the pod, unless the source is optional. */
  items?: KeyToPath[];
  /** Go on without the files if the config map or a key does not exist, instead of keeping the pod from starting. False unless set. */
  optional?: boolean;
};

/** A directory with the keys of a config map as files. The files follow changes of the config map. */
export type ConfigMapVolumeSource = {
  /** Name of an object in the same namespace. An empty name is accepted but refers to nothing. */
  name?: string;
  /** Which keys become files, and under which paths. All keys, each as a file of its name, unless set. A listed key that does not exist stops the pod, unless the source is optional. */
  items?: KeyToPath[];
  /** Permission bits of the files made, 0 to 511; YAML also takes octal such as 0644. 420, which is 0644, unless set. fsGroup and the mode of single files may change it. */
  defaultMode?: number;
  /** Go on without the files if the config map or a key does not exist, instead of keeping the pod from starting. False unless set. */
  optional?: boolean;
};

/** One program of a pod: its image, how it is started, and what it may use. */
export type Container = {
  /** Unique within the pod, also among its init containers; a DNS label. Cannot be changed. */
  name?: string;
  /** The image to run, with its tag or digest. May be left out where something fills it in before pods are made. */
  image?: string;
  /** Replaces the entry point of the image. Not run in a shell. $(NAME) is replaced by the environment variable NAME, and $$(NAME) stands for the text $(NAME). */
  command?: string[];
  /** Arguments of the command, in place of those of the image. $(NAME) and $$(NAME) count as in command. */
  args?: string[];
  /** Directory the command starts in. That of the image unless set. */
  workingDir?: string;
  /** Ports the container listens on. Informational: any port can be reached. */
  ports?: ContainerPort[];
  /** Sources whose keys all become environment variables. Later sources win over earlier ones, and env wins over all. Keys that cannot be names are left out. */
  envFrom?: EnvFromSource[];
  /** Environment variables. */
  env?: EnvVar[];
  /** How much the container asks for and may use at most. */
  resources?: ResourceRequirements;
  /** Whether the container is restarted when its resources are changed, for each resource. Needs the feature gate InPlacePodVerticalScaling. */
  resizePolicy?: ContainerResizePolicy[];
  /** Only for init containers, and only Always: the container runs beside the others for the life of the pod, and the next one starts once it has started. Absent follows the restartPolicy of the pod. */
  restartPolicy?: string;
  /** Where volumes of the pod appear in the container. */
  volumeMounts?: VolumeMount[];
  /** Where volumes of mode Block appear as devices in the container. */
  volumeDevices?: VolumeDevice[];
  /** When this fails the container is restarted. Without it only the end of the process counts. */
  livenessProbe?: Probe;
  /** While this fails the pod gets no traffic from services. Without it a running container is ready. */
  readinessProbe?: Probe;
  /** Until this succeeds the other probes wait; when it fails the container is restarted. */
  startupProbe?: Probe;
  /** What to do after the start and before the stop. */
  lifecycle?: Lifecycle;
  /** File in the container where it may leave a last message, up to 4096 bytes, for its status to show. /dev/termination-log unless set. */
  terminationMessagePath?: string;
  /** Where the last message comes from: File, or FallbackToLogsOnError for the end of the log when there is no such message and the container failed. File unless set. */
  terminationMessagePolicy?: string;
  /** When the image is pulled: Always, Never, or IfNotPresent. Always for the tag latest or no tag, otherwise IfNotPresent. */
  imagePullPolicy?: string;
  /** Rights and identity of this container. What is set here wins over the pod's. */
  securityContext?: SecurityContext;
  /** Keep standard input open for clients that attach. Otherwise reading gives the end of input at once. False unless set. */
  stdin?: boolean;
  /** Close standard input for good after the first client that attached leaves. Only with stdin. False unless set. */
  stdinOnce?: boolean;
  /** Give the container a terminal. Needs stdin. False unless set. */
  tty?: boolean;
  /** What happens when the container ends, by its exit code: the first rule that fits decides, and restartPolicy where none does. Up to 20. Needs the feature gate ContainerRestartRules. */
  restartPolicyRules?: ContainerRestartRule[];
};

/** An image that a node holds. */
export type ContainerImage = {
  /** The names the image is known by, with tags and digests. */
  names?: string[] | null;
  /** Size in bytes, as the node stores it. */
  sizeBytes?: number | bigint;
};

/** A port that a container listens on. */
export type ContainerPort = {
  /** Name for services and probes to use, unique in the pod: up to 15 lower-case letters, digits and dashes, with at least one letter. */
  name?: string;
  /** Port of the node that leads here, 1 to 65535. None unless set. On the host network it must equal containerPort. */
  hostPort?: number;
  /** Port in the pod's network, 1 to 65535. */
  containerPort?: number;
  /** TCP, UDP or SCTP. TCP unless set. */
  protocol?: string;
  /** Address of the node that hostPort is bound to. All addresses unless set. */
  hostIP?: string;
};

/** What a change of one resource means for the running container. */
export type ContainerResizePolicy = {
  /** The resource: cpu or memory. */
  resourceName?: string;
  /** NotRequired changes it while the container runs, RestartContainer restarts the container. */
  restartPolicy?: string;
};

/** What a container is doing. At most one part is set; none means waiting. */
export type ContainerState = {
  /** Set while the container has not started yet or waits to start again. */
  waiting?: ContainerStateWaiting;
  /** Set while the container runs. */
  running?: ContainerStateRunning;
  /** Set when the container has ended. */
  terminated?: ContainerStateTerminated;
};

/** A container that runs. */
export type ContainerStateRunning = {
  /** When it was started or last restarted. */
  startedAt?: string | null;
};

/** A container that has ended, and how. */
export type ContainerStateTerminated = {
  /** The exit code; 0 means success. */
  exitCode?: number;
  /** Number of the signal that ended it, if one did. */
  signal?: number;
  /** Why it ended, in one word for programs, such as Completed, Error or OOMKilled. */
  reason?: string;
  /** Why it ended, for people; often what the container left in its termination message. */
  message?: string;
  /** When this run began. */
  startedAt?: string | null;
  /** When this run ended. */
  finishedAt?: string | null;
  /** ID of the ended container, as type://id. */
  containerID?: string;
};

/** A container that does not run yet, and what it waits for. */
export type ContainerStateWaiting = {
  /** What it waits for, in one word for programs, such as ContainerCreating, ImagePullBackOff or CrashLoopBackOff. */
  reason?: string;
  /** Why, in a sentence for people. */
  message?: string;
};

/** What was last observed of a container. Written by the node agent. */
export type ContainerStatus = {
  /** Name of the container within the pod. */
  name?: string;
  /** What the container is doing now. */
  state?: ContainerState;
  /** How the run before this one ended. Empty if there was none. */
  lastState?: ContainerState;
  /** Whether its readiness probe succeeds, or it runs if it has none. For plain init containers, whether it has ended well. */
  ready?: boolean;
  /** How often it has been restarted. Counted from what the node still keeps, so it may be too low. */
  restartCount?: number;
  /** The image it runs, as the container runtime names it. May differ from the one in the spec. */
  image?: string;
  /** ID of the image it runs, usually with its digest. */
  imageID?: string;
  /** ID of the container, as type://id. Empty before it exists. */
  containerID?: string;
  /** Whether it runs, and its startup probe and postStart have succeeded. Reset on restart; always true without them. */
  started?: boolean;
  /** What the node has set aside for the container. Needs the feature gate InPlacePodVerticalScaling. */
  allocatedResources?: { [key: string]: string };
  /** Requests and limits in force now. Needs the feature gate InPlacePodVerticalScaling. */
  resources?: ResourceRequirements;
  /** Where volumes are mounted, and whether read-only to the bottom. */
  volumeMounts?: VolumeMountStatus[];
  /** The user and groups the first process began with. Needs the feature gate SupplementalGroupsPolicy. */
  user?: ContainerUser;
  /** Health of the devices given to the container. Needs the feature gate ResourceHealthStatus. */
  allocatedResourcesStatus?: ResourceStatus[];
  /** Signal that asks the container to end. */
  stopSignal?: string;
};

/** The identity that the first process of a container began with. */
export type ContainerUser = {
  /** User and groups. Only for Linux; the process may have changed them since. */
  linux?: LinuxContainerUser;
};

/** Where a daemon of a node listens. */
export type DaemonEndpoint = {
  /** The port. */
  Port?: number;
};

/** Fields of the pod as files of a projected volume. */
export type DownwardAPIProjection = {
  /** The files and what each contains. */
  items?: DownwardAPIVolumeFile[];
};

/** A file that contains a field of the pod or a resource of a container. Exactly one of the two is given. */
export type DownwardAPIVolumeFile = {
  /** Path of the file within the volume. Relative, and without any .. in it. */
  path?: string;
  /** A field of the pod: its name, namespace, UID, labels or annotations. */
  fieldRef?: ObjectFieldSelector;
  /** A request or limit of a container. */
  resourceFieldRef?: ResourceFieldSelector;
  /** Permission bits of this file, 0 to 511; YAML also takes octal such as 0644. The volume's defaultMode unless set. */
  mode?: number;
};

/** A directory with fields of the pod as files. The files follow changes of labels and annotations. */
export type DownwardAPIVolumeSource = {
  /** The files and what each contains. */
  items?: DownwardAPIVolumeFile[];
  /** Permission bits of the files made, 0 to 511; YAML also takes octal such as 0644. 420, which is 0644, unless set. fsGroup and the mode of single files may change it. */
  defaultMode?: number;
};

/** A directory that begins empty and is deleted with the pod. It outlives restarts of containers. */
export type EmptyDirVolumeSource = {
  /** Where the data lies: empty for the disk of the node, Memory for RAM, HugePages or HugePages-<size> for huge pages. */
  medium?: string;
  /** The most it may hold; beyond it the pod is evicted. For Memory the limits of the containers count as well. None unless set. */
  sizeLimit?: string;
};

/** An address behind a service. */
export type EndpointAddress = {
  /** IPv4 or IPv6 address. Loopback, link-local and multicast addresses are refused. */
  ip?: string;
  /** Name by which DNS gives this address. A DNS label; none unless set. */
  hostname?: string;
  /** The node the address is on, if known. */
  nodeName?: string;
  /** The object that has the address, usually a pod. */
  targetRef?: ObjectReference;
};

/** A port behind a service. */
export type EndpointPort = {
  /** Name of the port, as in the service. May be empty only if there is one port. */
  name?: string;
  /** Number of the port. */
  port?: number;
  /** TCP, UDP or SCTP. TCP unless set. */
  protocol?: string;
  /** The protocol spoken on top, as a hint: an IANA service name, kubernetes.io/h2c, kubernetes.io/ws, kubernetes.io/wss, or a name with a prefix of your own. Unknown unless set. */
  appProtocol?: string;
};

/** Addresses that share the same ports. Each address together with each port is an endpoint. */
export type EndpointSubset = {
  /** Addresses that are ready for traffic. */
  addresses?: EndpointAddress[];
  /** Addresses that get no traffic: not started yet, or failing their readiness probe. */
  notReadyAddresses?: EndpointAddress[];
  /** Ports that all the addresses offer. */
  ports?: EndpointPort[];
};

/** The addresses behind a service of the same name. EndpointSlices carry the same in a form that scales. */
export type Endpoints = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** Addresses and ports in groups. Addresses with different ports are in different groups. */
  subsets?: EndpointSubset[];
};

/** A list of endpoints. */
export type EndpointsList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The Endpoints objects of this page. */
  items?: Endpoints[] | null;
};

/** A config map or secret whose keys all become environment variables. Exactly one of the two is given. */
export type EnvFromSource = {
  /** Text put before each key to make the name of the variable. None unless set. */
  prefix?: string;
  /** The config map. */
  configMapRef?: ConfigMapEnvSource;
  /** The secret. */
  secretRef?: SecretEnvSource;
};

/** One environment variable of a container. */
export type EnvVar = {
  /** Name of the variable. */
  name?: string;
  /** Its value. $(NAME) is replaced by a variable defined before, and $$(NAME) stands for the text $(NAME). Empty unless set; not together with valueFrom. */
  value?: string;
  /** Where the value is taken from when the container starts. Not together with value. */
  valueFrom?: EnvVarSource;
};

/** Where the value of an environment variable comes from. Exactly one is given. */
export type EnvVarSource = {
  /** A field of the pod, such as metadata.name, metadata.labels['<key>'], spec.nodeName, spec.serviceAccountName or status.podIP. */
  fieldRef?: ObjectFieldSelector;
  /** A request or limit of a container. */
  resourceFieldRef?: ResourceFieldSelector;
  /** A key of a config map in the pod's namespace. */
  configMapKeyRef?: ConfigMapKeySelector;
  /** A key of a secret in the pod's namespace. */
  secretKeyRef?: SecretKeySelector;
  /** A key of a file in a volume of the pod. Needs the feature gate EnvFiles. */
  fileKeyRef?: FileKeySelector;
};

/** A container put into a running pod to look for faults. It is never restarted and has no guaranteed resources. */
export type EphemeralContainer = {
  /** Unique among all containers of the pod; a DNS label. */
  name?: string;
  /** The image to run, with its tag or digest. */
  image?: string;
  /** Replaces the entry point of the image. Not run in a shell. $(NAME) is replaced by the environment variable NAME, and $$(NAME) stands for the text $(NAME). */
  command?: string[];
  /** Arguments of the command, in place of those of the image. $(NAME) and $$(NAME) count as in command. */
  args?: string[];
  /** Directory the command starts in. That of the image unless set. */
  workingDir?: string;
  /** Not allowed for ephemeral containers. */
  ports?: ContainerPort[];
  /** Sources whose keys all become environment variables. Later sources win over earlier ones, and env wins over all. Keys that cannot be names are left out. */
  envFrom?: EnvFromSource[];
  /** Environment variables. */
  env?: EnvVar[];
  /** Not allowed for ephemeral containers, which use what the pod leaves free. */
  resources?: ResourceRequirements;
  /** Not allowed for ephemeral containers. */
  resizePolicy?: ContainerResizePolicy[];
  /** Not allowed for ephemeral containers. */
  restartPolicy?: string;
  /** Where volumes of the pod appear in the container. Without subPath or subPathExpr. */
  volumeMounts?: VolumeMount[];
  /** Where volumes of mode Block appear as devices in the container. */
  volumeDevices?: VolumeDevice[];
  /** Not allowed for ephemeral containers. */
  livenessProbe?: Probe;
  /** Not allowed for ephemeral containers. */
  readinessProbe?: Probe;
  /** Not allowed for ephemeral containers. */
  startupProbe?: Probe;
  /** Not allowed for ephemeral containers. */
  lifecycle?: Lifecycle;
  /** File in the container where it may leave a last message, up to 4096 bytes, for its status to show. /dev/termination-log unless set. */
  terminationMessagePath?: string;
  /** Where the last message comes from: File, or FallbackToLogsOnError for the end of the log when there is no such message and the container failed. File unless set. */
  terminationMessagePolicy?: string;
  /** When the image is pulled: Always, Never, or IfNotPresent. Always for the tag latest or no tag, otherwise IfNotPresent. */
  imagePullPolicy?: string;
  /** Rights and identity of this container. What is set here wins over the pod's. */
  securityContext?: SecurityContext;
  /** Keep standard input open for clients that attach. Otherwise reading gives the end of input at once. False unless set. */
  stdin?: boolean;
  /** Close standard input for good after the first client that attached leaves. Only with stdin. False unless set. */
  stdinOnce?: boolean;
  /** Give the container a terminal. Needs stdin. False unless set. */
  tty?: boolean;
  /** Not allowed for ephemeral containers. */
  restartPolicyRules?: ContainerRestartRule[];
  /** Container whose processes it shall see. If the container runtime cannot do this, or none is set, it has processes of its own. */
  targetContainerName?: string;
};

/** What an ephemeral container has in common with other containers. Some fields stand here only to be refused. */
export type EphemeralContainerCommon = {
  /** Unique among all containers of the pod; a DNS label. */
  name?: string;
  /** The image to run, with its tag or digest. */
  image?: string;
  /** Replaces the entry point of the image. Not run in a shell. $(NAME) is replaced by the environment variable NAME, and $$(NAME) stands for the text $(NAME). */
  command?: string[];
  /** Arguments of the command, in place of those of the image. $(NAME) and $$(NAME) count as in command. */
  args?: string[];
  /** Directory the command starts in. That of the image unless set. */
  workingDir?: string;
  /** Not allowed for ephemeral containers. */
  ports?: ContainerPort[];
  /** Sources whose keys all become environment variables. Later sources win over earlier ones, and env wins over all. Keys that cannot be names are left out. */
  envFrom?: EnvFromSource[];
  /** Environment variables. */
  env?: EnvVar[];
  /** Not allowed for ephemeral containers, which use what the pod leaves free. */
  resources?: ResourceRequirements;
  /** Not allowed for ephemeral containers. */
  resizePolicy?: ContainerResizePolicy[];
  /** Not allowed for ephemeral containers. */
  restartPolicy?: string;
  /** Where volumes of the pod appear in the container. Without subPath or subPathExpr. */
  volumeMounts?: VolumeMount[];
  /** Where volumes of mode Block appear as devices in the container. */
  volumeDevices?: VolumeDevice[];
  /** Not allowed for ephemeral containers. */
  livenessProbe?: Probe;
  /** Not allowed for ephemeral containers. */
  readinessProbe?: Probe;
  /** Not allowed for ephemeral containers. */
  startupProbe?: Probe;
  /** Not allowed for ephemeral containers. */
  lifecycle?: Lifecycle;
  /** File in the container where it may leave a last message, up to 4096 bytes, for its status to show. /dev/termination-log unless set. */
  terminationMessagePath?: string;
  /** Where the last message comes from: File, or FallbackToLogsOnError for the end of the log when there is no such message and the container failed. File unless set. */
  terminationMessagePolicy?: string;
  /** When the image is pulled: Always, Never, or IfNotPresent. Always for the tag latest or no tag, otherwise IfNotPresent. */
  imagePullPolicy?: string;
  /** Rights and identity of this container. What is set here wins over the pod's. */
  securityContext?: SecurityContext;
  /** Keep standard input open for clients that attach. Otherwise reading gives the end of input at once. False unless set. */
  stdin?: boolean;
  /** Close standard input for good after the first client that attached leaves. Only with stdin. False unless set. */
  stdinOnce?: boolean;
  /** Give the container a terminal. Needs stdin. False unless set. */
  tty?: boolean;
  /** Not allowed for ephemeral containers. */
  restartPolicyRules?: ContainerRestartRule[];
};

/** A volume made by a claim that belongs to the pod and is deleted with it. */
export type EphemeralVolumeSource = {
  /** The claim to make, named after the pod and the volume with a dash between. Required. A claim of that name that belongs to someone else keeps the pod from starting. */
  volumeClaimTemplate?: PersistentVolumeClaimTemplate;
};

/** A report that something happened in the cluster. Kept for a short time only; for people, not for programs to rely on. */
export type Event = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** The object the event is about. */
  involvedObject?: ObjectReference;
  /** What happened, in one word for programs, such as Scheduled or FailedMount. */
  reason?: string;
  /** What happened, in a sentence for people. */
  message?: string;
  /** Who reports, in the older form. reportingComponent is the newer one. */
  source?: EventSource;
  /** When the event was first recorded. */
  firstTimestamp?: string | null;
  /** When the event was last recorded. */
  lastTimestamp?: string | null;
  /** How often it has happened. */
  count?: number;
  /** Normal or Warning. */
  type?: string;
  /** When the event was first observed, to the microsecond. May be null in events of the older form. */
  eventTime?: string | null;
  /** Set when the event repeats: how often and until when. */
  series?: EventSeries;
  /** What was done or failed. */
  action?: string;
  /** A second object that the event touches. */
  related?: ObjectReference;
  /** The controller that reports, such as kubernetes.io/kubelet. */
  reportingComponent?: string;
  /** Which instance of the controller reports, such as the name of its pod. */
  reportingInstance?: string;
};

/** A list of events. */
export type EventList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The Events of this page. */
  items?: Event[] | null;
};

/** How an event repeats. */
export type EventSeries = {
  /** How often it has happened, up to the last report. */
  count?: number;
  /** When it last happened. */
  lastObservedTime?: string | null;
};

/** Who reports an event. */
export type EventSource = {
  /** Name of the component, such as kubelet. */
  component?: string;
  /** The node it runs on, if it belongs to one. */
  host?: string;
};

/** A command that is run in the container. Exit code 0 means success. */
export type ExecAction = {
  /** The program and its arguments, found from the container's root directory. Not run in a shell. */
  command?: string[];
};

/** A volume of a Fibre Channel network. Given either by targetWWNs and lun, or by wwids. */
export type FCVolumeSource = {
  /** World wide names of the targets. */
  targetWWNs?: string[];
  /** Number of the unit at the targets, 0 to 255. */
  lun?: number;
  /** Type of the file system on the volume, such as ext4 or xfs. ext4 unless set. */
  fsType?: string;
  /** Mount the volume read-only. False unless set. */
  readOnly?: boolean;
  /** World wide identifiers of the volume. */
  wwids?: string[];
};

/** A volume of a program that lies on the nodes, for persistent volumes. Deprecated; use a CSI driver. */
export type FlexPersistentVolumeSource = {
  /** Name of the program. */
  driver?: string;
  /** Type of the file system on the volume. The driver decides unless set. */
  fsType?: string;
  /** Secret passed to the driver. None unless set. */
  secretRef?: SecretReference;
  /** Mount the volume read-only. False unless set. */
  readOnly?: boolean;
  /** Further options, passed to the driver as they are. */
  options?: { [key: string]: string };
};

/** A volume of a program that lies on the nodes. Deprecated; use a CSI driver. */
export type FlexVolumeSource = {
  /** Name of the program. */
  driver?: string;
  /** Type of the file system on the volume. The driver decides unless set. */
  fsType?: string;
  /** Secret of the pod's namespace passed to the driver. None unless set. */
  secretRef?: LocalObjectReference;
  /** Mount the volume read-only. False unless set. */
  readOnly?: boolean;
  /** Further options, passed to the driver as they are. */
  options?: { [key: string]: string };
};

/** A volume of Flocker. No node of this version can mount it. Exactly one of the two fields is given. */
export type FlockerVolumeSource = {
  /** Name of the dataset. Deprecated; use datasetUUID. */
  datasetName?: string;
  /** UUID of the dataset. */
  datasetUUID?: string;
};

/** A disk of Google Compute Engine. Nodes mount it through the CSI driver pd.csi.storage.gke.io. */
export type GCEPersistentDiskVolumeSource = {
  /** Name of the disk. */
  pdName?: string;
  /** Type of the file system on the volume, such as ext4 or xfs. ext4 unless set. */
  fsType?: string;
  /** Number of the partition to mount, counted from 1. 0 or absent mounts the whole disk. */
  partition?: number;
  /** Mount the volume read-only. False unless set. */
  readOnly?: boolean;
};

/** A call to the gRPC health service of the container. It succeeds if the answer is SERVING. */
export type GRPCAction = {
  /** Port of the service, 1 to 65535. */
  port?: number;
  /** Name of the service in the health request. Empty, for the server as a whole, unless set. */
  service?: string;
};

/** A copy of a Git repository, made when the pod starts. Deprecated; clone into an emptyDir from an init container. */
export type GitRepoVolumeSource = {
  /** URL of the repository. */
  repository?: string;
  /** The commit, branch or tag to check out. The default branch unless set. */
  revision?: string;
  /** Directory to clone into. A dot means the volume itself; unless set, a directory named after the repository. Must not contain .. */
  directory?: string;
};

/** A volume of GlusterFS, for persistent volumes. No node of this version can mount it. */
export type GlusterfsPersistentVolumeSource = {
  /** Name of the Endpoints object with the servers. */
  endpoints?: string;
  /** Name of the volume in GlusterFS. */
  path?: string;
  /** Mount the volume read-only. False unless set. */
  readOnly?: boolean;
  /** Namespace of the Endpoints object. That of the claim unless set. */
  endpointsNamespace?: string;
};

/** A volume of GlusterFS. No node of this version can mount it. */
export type GlusterfsVolumeSource = {
  /** Name of the Endpoints object with the servers, in the namespace of the pod. */
  endpoints?: string;
  /** Name of the volume in GlusterFS. */
  path?: string;
  /** Mount the volume read-only. False unless set. */
  readOnly?: boolean;
};

/** An HTTP GET request by the node. Any status from 200 to 399 means success. */
export type HTTPGetAction = {
  /** Path to ask for. / unless set. */
  path?: string;
  /** Number of the port, 1 to 65535, or the name of a port of the container. */
  port?: number | string;
  /** Host to connect to. The IP of the pod unless set. To choose a virtual host, set a Host header instead. */
  host?: string;
  /** HTTP or HTTPS. HTTP unless set. Certificates are not verified. */
  scheme?: string;
  /** Headers to send. A name may occur more than once. */
  httpHeaders?: HTTPHeader[];
};

/** A header of an HTTP request. */
export type HTTPHeader = {
  /** Name of the header. Upper and lower case do not matter. */
  name?: string;
  /** Its value. */
  value?: string;
};

/** A line of the pod's /etc/hosts. */
export type HostAlias = {
  /** The address. */
  ip?: string;
  /** Names for the address. */
  hostnames?: string[];
};

/** An address of a node. */
export type HostIP = {
  /** The address. */
  ip?: string;
};

/** A file or directory of the node itself. Gives the pod power over the node; few pods should need it. */
export type HostPathVolumeSource = {
  /** Path on the node. A symbolic link is followed. */
  path?: string;
  /** What must be there: Directory, File, Socket, CharDevice or BlockDevice. DirectoryOrCreate and FileOrCreate make it if it is missing. Empty, the default, checks nothing. */
  type?: string;
};

/** A disk reached by iSCSI, for persistent volumes. */
export type ISCSIPersistentVolumeSource = {
  /** The portal: an IP address, or IP:port where the port is not 3260. */
  targetPortal?: string;
  /** Qualified name of the target. */
  iqn?: string;
  /** Number of the unit at the target, 0 to 255. */
  lun?: number;
  /** Name of the interface of the initiator. default unless set. */
  iscsiInterface?: string;
  /** Type of the file system on the volume, such as ext4 or xfs. ext4 unless set. */
  fsType?: string;
  /** Mount the volume read-only. False unless set. */
  readOnly?: boolean;
  /** Further portals for multipath, each an IP address or IP:port where the port is not 3260. */
  portals?: string[];
  /** Authenticate the discovery by CHAP. Needs secretRef. False unless set. */
  chapAuthDiscovery?: boolean;
  /** Authenticate the session by CHAP. Needs secretRef. False unless set. */
  chapAuthSession?: boolean;
  /** Secret with the names and passwords for CHAP. */
  secretRef?: SecretReference;
  /** Name the initiator uses, in place of that of the node. With iscsiInterface an interface of its own is made for it. */
  initiatorName?: string;
};

/** A disk reached by iSCSI. It must exist; its data outlives the pod. */
export type ISCSIVolumeSource = {
  /** The portal: an IP address, or IP:port where the port is not 3260. */
  targetPortal?: string;
  /** Qualified name of the target. */
  iqn?: string;
  /** Number of the unit at the target, 0 to 255. */
  lun?: number;
  /** Name of the interface of the initiator. default unless set. */
  iscsiInterface?: string;
  /** Type of the file system on the volume, such as ext4 or xfs. ext4 unless set. */
  fsType?: string;
  /** Mount the volume read-only. False unless set. */
  readOnly?: boolean;
  /** Further portals for multipath, each an IP address or IP:port where the port is not 3260. */
  portals?: string[];
  /** Authenticate the discovery by CHAP. Needs secretRef. False unless set. */
  chapAuthDiscovery?: boolean;
  /** Authenticate the session by CHAP. Needs secretRef. False unless set. */
  chapAuthSession?: boolean;
  /** Secret of the pod's namespace with the names and passwords for CHAP. */
  secretRef?: LocalObjectReference;
  /** Name the initiator uses, in place of that of the node. With iscsiInterface an interface of its own is made for it. */
  initiatorName?: string;
};

/** The content of an image or other OCI artifact, read-only and without execution. */
export type ImageVolumeSource = {
  /** The image, with its tag or digest. May be left out where something fills it in before pods are made. */
  reference?: string;
  /** When it is pulled: Always, Never, or IfNotPresent. Always for the tag latest or no tag, otherwise IfNotPresent. */
  pullPolicy?: string;
};

/** A key and the file its value becomes. */
export type KeyToPath = {
  /** The key. */
  key?: string;
  /** Path of the file within the volume. Relative, and without any .. in it. */
  path?: string;
  /** Permission bits of this file, 0 to 511; YAML also takes octal such as 0644. The volume's defaultMode unless set. */
  mode?: number;
};

/** What to do when a container has started and before it is stopped. */
export type Lifecycle = {
  /** Done right after the start, at the same time as the entry point runs. If it fails the container is killed and restarted as the restart policy says. */
  postStart?: LifecycleHandler;
  /** Done before the container is asked to end, but not when it ends by itself. Its time counts towards the grace period; at the end of that the container is killed anyway. */
  preStop?: LifecycleHandler;
  /** Signal that asks the container to end. That of the image unless set, or else SIGTERM. Only with spec.os.name. Needs the feature gate ContainerStopSignals. */
  stopSignal?: string;
};

/** What is done at a point in the life of a container. Exactly one is given. */
export type LifecycleHandler = {
  /** Run a command in the container. */
  exec?: ExecAction;
  /** Send an HTTP request. */
  httpGet?: HTTPGetAction;
  /** Deprecated; accepted, but fails when its time comes. */
  tcpSocket?: TCPSocketAction;
  /** Wait for some seconds. */
  sleep?: SleepAction;
};

/** Limits and defaults for each single object of a namespace. Checked when objects are created or changed. */
export type LimitRange = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** What is wanted. */
  spec?: LimitRangeSpec;
};

/** Limits and defaults for objects of one type. Each map is from the name of a resource to an amount. */
export type LimitRangeItem = {
  /** What is limited: Container, Pod or PersistentVolumeClaim. Each may occur only once. */
  type?: string;
  /** No limit may be higher than this. */
  max?: { [key: string]: string };
  /** No request may be lower than this. */
  min?: { [key: string]: string };
  /** Limits given to containers that name none. The values of max unless set. Only useful for Container; refused for Pod. */
  default?: { [key: string]: string };
  /** Requests given to containers that name none. The values of default, or else of min, unless set. Only useful for Container; refused for Pod. */
  defaultRequest?: { [key: string]: string };
  /** The most a limit may be in proportion to its request. Both must then be given and not be zero. */
  maxLimitRequestRatio?: { [key: string]: string };
};

/** A list of limit ranges. */
export type LimitRangeList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The LimitRanges of this page. */
  items?: LimitRange[] | null;
};

/** Which limits hold in a namespace. */
export type LimitRangeSpec = {
  /** One entry for each type of object. */
  limits?: LimitRangeItem[] | null;
};

/** User and groups that the first process of a container began with. */
export type LinuxContainerUser = {
  /** User ID. */
  uid?: number | bigint;
  /** Group ID. */
  gid?: number | bigint;
  /** IDs of further groups, including those the image gives the user. */
  supplementalGroups?: (number | bigint)[];
};

/** A list of objects of any kinds. */
export type List = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The objects, which may be of different kinds. */
  items?: JsonValue[] | null;
};

/** An address at which a load balancer takes traffic for a service. */
export type LoadBalancerIngress = {
  /** IP address. Set by load balancers that have one. */
  ip?: string;
  /** DNS name. Set by load balancers that have a name instead of an address. */
  hostname?: string;
  /** VIP: packets arrive with the address of the load balancer; Proxy: with that of the node or pod. Only with ip, where it is VIP unless set. */
  ipMode?: string;
  /** What became of the ports of the service. May be absent. */
  ports?: PortStatus[];
};

/** Where a load balancer takes traffic. */
export type LoadBalancerStatus = {
  /** The addresses. Empty until the load balancer is ready. */
  ingress?: LoadBalancerIngress[];
};

/** Names an object of the same namespace. */
export type LocalObjectReference = {
  /** Name of an object in the same namespace. An empty name is accepted but refers to nothing. */
  name?: string;
};

/** A disk or directory of one node. The persistent volume must say by nodeAffinity which node that is. */
export type LocalVolumeSource = {
  /** Path on the node: a directory, or a block device. */
  path?: string;
  /** File system to make on a block device that has none, such as ext4 or xfs. ext4 unless set. */
  fsType?: string;
};

/** How far a volume has come on its way to another VolumeAttributesClass. */
export type ModifyVolumeStatus = {
  /** The class that is being put into effect. */
  targetVolumeAttributesClassName?: string;
  /** Pending: the class does not exist; InProgress: the volume is being changed; Infeasible: the driver refuses, and another class must be named. */
  status?: string;
};

/** A directory of an NFS server. */
export type NFSVolumeSource = {
  /** Host name or IP address of the server. */
  server?: string;
  /** The directory that the server exports. Absolute. */
  path?: string;
  /** Mount the volume read-only. False unless set. */
  readOnly?: boolean;
};

/** A part of the cluster with names of its own. Deleting it deletes all objects in it. */
export type Namespace = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** What is wanted. */
  spec?: NamespaceSpec;
  /** What was last observed. Written by controllers. */
  status?: NamespaceStatus;
};

/** One aspect of the state of a namespace, and since when it holds. Tells what stands in the way of its deletion. */
export type NamespaceCondition = {
  /** Which aspect this entry describes. There is at most one entry of each type. */
  type?: string;
  /** Whether it holds: True, False or Unknown. */
  status?: string;
  /** Since when it has been so. */
  lastTransitionTime?: string | null;
  /** Why, in one word for programs. */
  reason?: string;
  /** Why, in a sentence for people. */
  message?: string;
};

/** A list of namespaces. */
export type NamespaceList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The Namespaces of this page. */
  items?: Namespace[] | null;
};

/** What is wanted of a namespace. */
export type NamespaceSpec = {
  /** Duties to be done before the namespace may go; kubernetes is the one that empties it. Changed only through the subresource finalize. */
  finalizers?: string[];
};

/** What was last observed of a namespace. */
export type NamespaceStatus = {
  /** Active, or Terminating while it is being deleted. Nothing can be created in a namespace that is terminating. */
  phase?: string;
  /** Aspects of the state, each with since when it holds. */
  conditions?: NamespaceCondition[];
};

/** A machine that runs pods. */
export type Node = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** What is wanted. */
  spec?: NodeSpec;
  /** What was last observed. Written by controllers. */
  status?: NodeStatus;
};

/** An address of a node. */
export type NodeAddress = {
  /** Kind of address: InternalIP, ExternalIP, Hostname, InternalDNS or ExternalDNS. */
  type?: string;
  /** The IP address or the name. */
  address?: string;
};

/** Which nodes a pod must or should run on. Later changes of a node's labels do not move the pod. */
export type NodeAffinity = {
  /** The pod is placed only on nodes that this selects. */
  requiredDuringSchedulingIgnoredDuringExecution?: NodeSelector;
  /** Nodes to be preferred. The weights of all terms that select a node are added; more is better. */
  preferredDuringSchedulingIgnoredDuringExecution?: PreferredSchedulingTerm[];
};

/** One aspect of the state of a node: Ready, MemoryPressure, DiskPressure, PIDPressure or NetworkUnavailable. */
export type NodeCondition = {
  /** Which aspect this entry describes. There is at most one entry of each type. */
  type?: string;
  /** Whether it holds: True, False or Unknown. */
  status?: string;
  /** When the node last reported this aspect, whether changed or not. */
  lastHeartbeatTime?: string | null;
  /** Since when it has been so. */
  lastTransitionTime?: string | null;
  /** Why, in one word for programs. */
  reason?: string;
  /** Why, in a sentence for people. */
  message?: string;
};

/** Where a node agent takes its settings from. No longer used. */
export type NodeConfigSource = {
  /** A config map with the settings. */
  configMap?: ConfigMapNodeConfigSource;
};

/** Which settings a node agent uses. No longer written. */
export type NodeConfigStatus = {
  /** The settings it is to use after a restart. */
  assigned?: NodeConfigSource;
  /** The settings it uses now. */
  active?: NodeConfigSource;
  /** The settings it goes back to when the assigned ones fail. */
  lastKnownGood?: NodeConfigSource;
  /** What is wrong with the assigned settings. Empty if nothing is. */
  error?: string;
};

/** Where daemons of a node listen. */
export type NodeDaemonEndpoints = {
  /** Where the node agent listens. */
  kubeletEndpoint?: DaemonEndpoint;
};

/** What the container runtime of a node can do, whatever the runtime handler. */
export type NodeFeatures = {
  /** Whether supplementalGroupsPolicy and the user in the status of containers are supported. */
  supplementalGroupsPolicy?: boolean;
};

/** A list of nodes. */
export type NodeList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The Nodes of this page. */
  items?: Node[] | null;
};

/** Parameters of a request that is passed on to a node. */
export type NodeProxyOptions = {
  kind?: string;
  apiVersion?: string;
  /** Path to ask for at the other end, with its query. / unless set. */
  path?: string;
};

/** A way to run containers that a node offers. */
export type NodeRuntimeHandler = {
  /** Name that runtime classes refer to. Empty for the default one. */
  name?: string;
  /** What it can do. */
  features?: NodeRuntimeHandlerFeatures;
};

/** What one runtime handler of a node can do. */
export type NodeRuntimeHandlerFeatures = {
  /** Whether mounts can be read-only to the bottom. */
  recursiveReadOnlyMounts?: boolean;
  /** Whether pods can have users of their own. Needs the feature gate UserNamespacesSupport. */
  userNamespaces?: boolean;
};

/** Selects nodes. A node is selected if at least one term matches. */
export type NodeSelector = {
  /** The terms, of which one must match. At least one. */
  nodeSelectorTerms?: NodeSelectorTerm[] | null;
};

/** A requirement on one label or field of a node. */
export type NodeSelectorRequirement = {
  /** Key of the label, or path of the field. */
  key?: string;
  /** How the value is compared: In, NotIn, Exists, DoesNotExist, Gt or Lt. NotIn also holds when the label is missing. */
  operator?: string;
  /** Values for In and NotIn, at least one; exactly one whole number for Gt and Lt. Must be empty for Exists and DoesNotExist. */
  values?: string[];
};

/** A set of requirements on a node, all of which must hold. An empty term selects no node. */
export type NodeSelectorTerm = {
  /** Requirements on the labels of the node. */
  matchExpressions?: NodeSelectorRequirement[];
  /** Requirements on fields of the node. Only metadata.name, with In or NotIn and one value. */
  matchFields?: NodeSelectorRequirement[];
};

/** What is wanted of a node. */
export type NodeSpec = {
  /** Network the pods of the node get addresses from. The same as the first of podCIDRs. */
  podCIDR?: string;
  /** Networks the pods of the node get addresses from: at most one for IPv4 and one for IPv6. Once set, they cannot be changed. */
  podCIDRs?: string[];
  /** What the cloud calls the machine, as provider://id. Once set, it cannot be changed. */
  providerID?: string;
  /** No new pods are placed here while this is true, except those that tolerate it. False unless set. */
  unschedulable?: boolean;
  /** Keep pods away that do not tolerate them. */
  taints?: Taint[];
  /** No longer used. */
  configSource?: NodeConfigSource;
  /** No longer used; kept for old objects. */
  externalID?: string;
};

/** What was last observed of a node. Written by its agent. */
export type NodeStatus = {
  /** All resources of the node, by name: cpu, memory, ephemeral-storage, pods and others. */
  capacity?: { [key: string]: string };
  /** What of these pods can use, after what the system needs is set aside. The same as capacity unless set. */
  allocatable?: { [key: string]: string };
  /** No longer written. */
  phase?: string;
  /** Aspects of the state, each with since when it holds. */
  conditions?: NodeCondition[];
  /** Addresses by which the node can be reached. */
  addresses?: NodeAddress[];
  /** Where daemons of the node listen. */
  daemonEndpoints?: NodeDaemonEndpoints;
  /** The machine and the software on it. */
  nodeInfo?: NodeSystemInfo;
  /** Images the node holds. Possibly not all of them. */
  images?: ContainerImage[];
  /** Volumes that are mounted or about to be, and must not be detached. */
  volumesInUse?: string[];
  /** Volumes attached at present, each with its device. */
  volumesAttached?: AttachedVolume[];
  /** No longer written. */
  config?: NodeConfigStatus;
  /** Ways to run containers that the node offers. */
  runtimeHandlers?: NodeRuntimeHandler[];
  /** What the container runtime can do. Needs the feature gate SupplementalGroupsPolicy. */
  features?: NodeFeatures;
  /** Features of the node that decide which pods it can run. Needs the feature gate NodeDeclaredFeatures. */
  declaredFeatures?: string[];
};

/** The machine a node runs on, and the versions of its software. */
export type NodeSystemInfo = {
  /** ID of the machine, as in /etc/machine-id. */
  machineID?: string;
  /** UUID that the hardware reports. */
  systemUUID?: string;
  /** Changes with every start of the machine. */
  bootID?: string;
  /** Version of the kernel, such as 6.1.0-18-amd64. */
  kernelVersion?: string;
  /** Name of the operating system as it calls itself, such as Debian GNU/Linux 12 (bookworm). */
  osImage?: string;
  /** Container runtime and version, as containerd://1.7.20. */
  containerRuntimeVersion?: string;
  /** Version of the node agent. */
  kubeletVersion?: string;
  /** Deprecated. Version of the node agent, whatever that of kube-proxy. */
  kubeProxyVersion?: string;
  /** The operating system: linux or windows. */
  operatingSystem?: string;
  /** The processor architecture, such as amd64 or arm64. */
  architecture?: string;
  /** The swap space of the node. */
  swap?: NodeSwapStatus;
};

/** A field of the pod. */
export type ObjectFieldSelector = {
  /** The version of the pod in which the path is meant. v1 unless set. */
  apiVersion?: string;
  /** Path of the field, such as metadata.name or metadata.labels['app']. */
  fieldPath?: string;
};

/** Points to an object, possibly of another namespace, or to a field in it. Which fields count depends on where it stands. */
export type ObjectReference = {
  /** Kind of the object. */
  kind?: string;
  /** Namespace of the object. Empty for objects of the whole cluster. */
  namespace?: string;
  /** Name of the object. */
  name?: string;
  /** UID of the object. Optional; where given, an object of the same name with another UID is not meant. */
  uid?: string;
  /** Group and version of the object, such as apps/v1. */
  apiVersion?: string;
  /** Revision of the object that is meant, if a certain one is. */
  resourceVersion?: string;
  /** The part of the object that is meant, such as spec.containers{web}. The whole object unless set. */
  fieldPath?: string;
};

/** A piece of storage in the cluster, independent of the pods that use it. Belongs to no namespace. */
export type PersistentVolume = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** What is wanted. */
  spec?: PersistentVolumeSpec;
  /** What was last observed. Written by controllers. */
  status?: PersistentVolumeStatus;
};

/** A request for storage, bound to one volume. Pods use it as a volume. */
export type PersistentVolumeClaim = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** What is wanted. */
  spec?: PersistentVolumeClaimSpec;
  /** What was last observed. Written by controllers. */
  status?: PersistentVolumeClaimStatus;
};

/** One aspect of the state of a claim, and since when it holds. Tells how a change of its size or class is going. */
export type PersistentVolumeClaimCondition = {
  /** Which aspect this entry describes. There is at most one entry of each type. */
  type?: string;
  /** Whether it holds: True, False or Unknown. */
  status?: string;
  /** When the condition was last checked. */
  lastProbeTime?: string | null;
  /** Since when it has been so. */
  lastTransitionTime?: string | null;
  /** Why, in one word for programs. */
  reason?: string;
  /** Why, in a sentence for people. */
  message?: string;
};

/** A list of claims. */
export type PersistentVolumeClaimList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The PersistentVolumeClaims of this page. */
  items?: PersistentVolumeClaim[] | null;
};

/** What storage is wanted. Apart from growth, most of it cannot be changed. */
export type PersistentVolumeClaimSpec = {
  /** How the volume must be mountable. ReadWriteOnce: one node; ReadWriteOncePod: one pod; ReadOnlyMany: many nodes, read-only; ReadWriteMany: many nodes. */
  accessModes?: string[];
  /** Labels of the volumes that may be bound. Any volume unless set. With a selector no volume is made to order. */
  selector?: LabelSelector;
  /** How much storage is asked for. The request may grow later if the storage class allows it. */
  resources?: VolumeResourceRequirements;
  /** The volume the claim is bound to. Given beforehand, only that volume is bound. Once set, it cannot be changed. */
  volumeName?: string;
  /** The class the storage comes from. Absent takes the default class, if there is one; empty binds only volumes without a class. */
  storageClassName?: string;
  /** Filesystem for a directory to be mounted, Block for a raw device. Filesystem unless set. */
  volumeMode?: string;
  /** What the new volume is filled from: a VolumeSnapshot or a claim of the same namespace. dataSourceRef is set to the same. Other kinds are dropped here. */
  dataSource?: TypedLocalObjectReference;
  /** What the new volume is filled from: a snapshot, a claim, or an object of any kind that a populator knows. A namespace needs the feature gate CrossNamespaceVolumeDataSource. */
  dataSourceRef?: TypedObjectReference;
  /** The class with the changeable properties of the volume, such as its speed. Another name changes the volume. Needs the feature gate VolumeAttributesClass. */
  volumeAttributesClassName?: string;
};

/** What was last observed of a claim. */
export type PersistentVolumeClaimStatus = {
  /** Pending: not bound yet; Bound: bound to a volume; Lost: its volume is gone. */
  phase?: string;
  /** How the bound volume can be mounted. ReadWriteOnce: one node; ReadWriteOncePod: one pod; ReadOnlyMany: many nodes, read-only; ReadWriteMany: many nodes. */
  accessModes?: string[];
  /** Size of the bound volume. */
  capacity?: { [key: string]: string };
  /** Aspects of the state, each with since when it holds. */
  conditions?: PersistentVolumeClaimCondition[];
  /** The size that the volume is growing to, or has grown to. Needs the feature gate RecoverVolumeExpansionFailure. */
  allocatedResources?: { [key: string]: string };
  /** How far the growth has come, by resource. Absent when none is under way. Needs the feature gate RecoverVolumeExpansionFailure. */
  allocatedResourceStatuses?: { [key: string]: string };
  /** The VolumeAttributesClass in force. Needs the feature gate VolumeAttributesClass. */
  currentVolumeAttributesClassName?: string;
  /** How a change to another VolumeAttributesClass is going. Absent when none is under way. Needs the feature gate VolumeAttributesClass. */
  modifyVolumeStatus?: ModifyVolumeStatus;
};

/** The claim that is made for a pod. */
export type PersistentVolumeClaimTemplate = {
  /** Labels and annotations for the claim. Other fields are refused. */
  metadata?: ObjectMeta;
  /** The spec of the claim. */
  spec?: PersistentVolumeClaimSpec;
};

/** The volume of a claim. */
export type PersistentVolumeClaimVolumeSource = {
  /** Name of the claim, in the namespace of the pod. */
  claimName?: string;
  /** Give the volume to the containers read-only, whatever their mounts say. False unless set. */
  readOnly?: boolean;
};

/** A list of persistent volumes. */
export type PersistentVolumeList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The PersistentVolumes of this page. */
  items?: PersistentVolume[] | null;
};

/** Where the data of a persistent volume lies. Exactly one is given; it cannot be changed. */
export type PersistentVolumeSource = {
  /** A disk of Google Compute Engine. Deprecated; use CSI. */
  gcePersistentDisk?: GCEPersistentDiskVolumeSource;
  /** A disk of AWS Elastic Block Store. Deprecated; use CSI. */
  awsElasticBlockStore?: AWSElasticBlockStoreVolumeSource;
  /** A directory of the node. Only for tests with a single node; use local otherwise. */
  hostPath?: HostPathVolumeSource;
  /** A volume of GlusterFS. No node of this version can mount it. */
  glusterfs?: GlusterfsPersistentVolumeSource;
  /** A directory of an NFS server. */
  nfs?: NFSVolumeSource;
  /** An image of Ceph RBD. No node of this version can mount it. */
  rbd?: RBDPersistentVolumeSource;
  /** A disk reached by iSCSI. */
  iscsi?: ISCSIPersistentVolumeSource;
  /** A volume of OpenStack Cinder. Deprecated; use CSI. */
  cinder?: CinderPersistentVolumeSource;
  /** A directory of a Ceph file system. No node of this version can mount it. */
  cephfs?: CephFSPersistentVolumeSource;
  /** A volume of a Fibre Channel network. */
  fc?: FCVolumeSource;
  /** A volume of Flocker. No node of this version can mount it. */
  flocker?: FlockerVolumeSource;
  /** A volume of a program on the node. Deprecated; use CSI. */
  flexVolume?: FlexPersistentVolumeSource;
  /** A file share of Azure. Deprecated; use CSI. */
  azureFile?: AzureFilePersistentVolumeSource;
  /** A disk of vSphere. Deprecated; use CSI. */
  vsphereVolume?: VsphereVirtualDiskVolumeSource;
  /** A volume of Quobyte. No node of this version can mount it. */
  quobyte?: QuobyteVolumeSource;
  /** A data disk of Azure. Deprecated; use CSI. */
  azureDisk?: AzureDiskVolumeSource;
  /** A disk of Photon. No node of this version can mount it. */
  photonPersistentDisk?: PhotonPersistentDiskVolumeSource;
  /** A volume of Portworx. Deprecated; use CSI. */
  portworxVolume?: PortworxVolumeSource;
  /** A volume of ScaleIO. No node of this version can mount it. */
  scaleIO?: ScaleIOPersistentVolumeSource;
  /** A disk or directory of one node. */
  local?: LocalVolumeSource;
  /** A volume of StorageOS. No node of this version can mount it. */
  storageos?: StorageOSPersistentVolumeSource;
  /** A volume of a CSI driver. */
  csi?: CSIPersistentVolumeSource;
};

/** What a persistent volume is, and who may use it how. */
export type PersistentVolumeSpec = {
  /** Size of the volume, as storage. */
  capacity?: { [key: string]: string };
  /** A disk of Google Compute Engine. Deprecated; use CSI. */
  gcePersistentDisk?: GCEPersistentDiskVolumeSource;
  /** A disk of AWS Elastic Block Store. Deprecated; use CSI. */
  awsElasticBlockStore?: AWSElasticBlockStoreVolumeSource;
  /** A directory of the node. Only for tests with a single node; use local otherwise. */
  hostPath?: HostPathVolumeSource;
  /** A volume of GlusterFS. No node of this version can mount it. */
  glusterfs?: GlusterfsPersistentVolumeSource;
  /** A directory of an NFS server. */
  nfs?: NFSVolumeSource;
  /** An image of Ceph RBD. No node of this version can mount it. */
  rbd?: RBDPersistentVolumeSource;
  /** A disk reached by iSCSI. */
  iscsi?: ISCSIPersistentVolumeSource;
  /** A volume of OpenStack Cinder. Deprecated; use CSI. */
  cinder?: CinderPersistentVolumeSource;
  /** A directory of a Ceph file system. No node of this version can mount it. */
  cephfs?: CephFSPersistentVolumeSource;
  /** A volume of a Fibre Channel network. */
  fc?: FCVolumeSource;
  /** A volume of Flocker. No node of this version can mount it. */
  flocker?: FlockerVolumeSource;
  /** A volume of a program on the node. Deprecated; use CSI. */
  flexVolume?: FlexPersistentVolumeSource;
  /** A file share of Azure. Deprecated; use CSI. */
  azureFile?: AzureFilePersistentVolumeSource;
  /** A disk of vSphere. Deprecated; use CSI. */
  vsphereVolume?: VsphereVirtualDiskVolumeSource;
  /** A volume of Quobyte. No node of this version can mount it. */
  quobyte?: QuobyteVolumeSource;
  /** A data disk of Azure. Deprecated; use CSI. */
  azureDisk?: AzureDiskVolumeSource;
  /** A disk of Photon. No node of this version can mount it. */
  photonPersistentDisk?: PhotonPersistentDiskVolumeSource;
  /** A volume of Portworx. Deprecated; use CSI. */
  portworxVolume?: PortworxVolumeSource;
  /** A volume of ScaleIO. No node of this version can mount it. */
  scaleIO?: ScaleIOPersistentVolumeSource;
  /** A disk or directory of one node. */
  local?: LocalVolumeSource;
  /** A volume of StorageOS. No node of this version can mount it. */
  storageos?: StorageOSPersistentVolumeSource;
  /** A volume of a CSI driver. */
  csi?: CSIPersistentVolumeSource;
  /** How the volume can be mounted. ReadWriteOnce: one node; ReadWriteOncePod: one pod; ReadOnlyMany: many nodes, read-only; ReadWriteMany: many nodes. */
  accessModes?: string[];
  /** The claim the volume is bound to or kept for. Set when the two are bound. */
  claimRef?: ObjectReference;
  /** What happens when the claim is gone: Retain keeps the volume, Delete deletes it with its data, Recycle, which is deprecated, empties it. Retain unless set; volumes made to order take it from their class. */
  persistentVolumeReclaimPolicy?: string;
  /** The class the volume belongs to. Without one, only claims that ask for no class are bound. */
  storageClassName?: string;
  /** Options for mounting, such as ro or soft. Not checked; a wrong one makes mounting fail. */
  mountOptions?: string[];
  /** Filesystem for a directory to be mounted, Block for a raw device. Filesystem unless set. */
  volumeMode?: string;
  /** Which nodes can reach the volume. Pods that use it are placed there. All nodes unless set. */
  nodeAffinity?: VolumeNodeAffinity;
  /** The class with the changeable properties of the volume. Needs the feature gate VolumeAttributesClass. */
  volumeAttributesClassName?: string;
};

/** What was last observed of a persistent volume. */
export type PersistentVolumeStatus = {
  /** Pending: not ready; Available: free; Bound: bound to a claim; Released: its claim is gone; Failed: reclaiming it went wrong. */
  phase?: string;
  /** Why, in a sentence for people. */
  message?: string;
  /** Why, in one word for programs. */
  reason?: string;
  /** When the phase last changed. */
  lastPhaseTransitionTime?: string;
};

/** A disk of Photon. No node of this version can mount it. */
export type PhotonPersistentDiskVolumeSource = {
  /** ID of the disk. */
  pdID?: string;
  /** Type of the file system on the volume, such as ext4 or xfs. ext4 unless set. */
  fsType?: string;
};

/** One or more containers that run together on one node and share network and volumes. */
export type Pod = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** What is wanted. */
  spec?: PodSpec;
  /** What was last observed. Written by controllers. */
  status?: PodStatus;
};

/** Which pods a pod must or should be near. Later changes of labels do not move it. */
export type PodAffinity = {
  /** The pod is placed only where all of these terms hold. */
  requiredDuringSchedulingIgnoredDuringExecution?: PodAffinityTerm[];
  /** Places to be preferred. The weights of all terms that hold for a node are added; more is better. */
  preferredDuringSchedulingIgnoredDuringExecution?: WeightedPodAffinityTerm[];
};

/** Selects pods, and says what counts as the same place: nodes with the same value of a label. */
export type PodAffinityTerm = {
  /** Labels of the pods that are meant. Absent selects none, empty all. */
  labelSelector?: LabelSelector;
  /** Namespaces to look in, together with those of namespaceSelector. If both are absent, the namespace of the pod. */
  namespaces?: string[];
  /** Label of nodes whose value makes the place, such as kubernetes.io/hostname or topology.kubernetes.io/zone. Must not be empty. */
  topologyKey?: string;
  /** Labels of the namespaces to look in, together with those named. Empty selects all namespaces. */
  namespaceSelector?: LabelSelector;
  /** Labels for which the other pods must have the same value as this one. Keys the pod does not have are ignored. Not without labelSelector, and not keys that it names. */
  matchLabelKeys?: string[];
  /** Labels for which the other pods must have another value than this one. Keys the pod does not have are ignored. Not without labelSelector, and not keys of matchLabelKeys. */
  mismatchLabelKeys?: string[];
};

/** Which pods a pod must or should keep away from. Later changes of labels do not move it. */
export type PodAntiAffinity = {
  /** The pod is placed only where none of these terms holds. */
  requiredDuringSchedulingIgnoredDuringExecution?: PodAffinityTerm[];
  /** Places to be avoided. The weights of all terms that hold for a node are added; less is better. */
  preferredDuringSchedulingIgnoredDuringExecution?: WeightedPodAffinityTerm[];
};

/** Parameters of a request to attach to a running container. */
export type PodAttachOptions = {
  kind?: string;
  apiVersion?: string;
  /** Pass standard input on to the container. False unless set. */
  stdin?: boolean;
  /** Return the standard output of the container. False unless set. */
  stdout?: boolean;
  /** Return the standard error of the container. False unless set. */
  stderr?: boolean;
  /** A terminal is attached; standard error then comes with standard output. False unless set. */
  tty?: boolean;
  /** Name of the container. Required if the pod has more than one. */
  container?: string;
};

/** A private key that the node agent makes for a pod, with a certificate that it asks a signer for and keeps renewing. At least one path is given. */
export type PodCertificateProjection = {
  /** The signer that is asked. */
  signerName?: string;
  /** Kind of the key: RSA3072, RSA4096, ECDSAP256, ECDSAP384, ECDSAP521 or ED25519. */
  keyType?: string;
  /** The longest time the certificate may be valid, in seconds: from 3600, an hour, to 7862400, which is 91 days, or for signers of kubernetes.io to 86400, a day. 86400 unless set. The signer may make it shorter. */
  maxExpirationSeconds?: number;
  /** File with key and certificates in PEM, the key first, so that they always belong together. */
  credentialBundlePath?: string;
  /** File with the key alone. */
  keyPath?: string;
  /** File with the certificates alone. */
  certificateChainPath?: string;
  /** What the signer is to know besides, under names that begin with a domain. Not verified. */
  userAnnotations?: { [key: string]: string };
};

/** One aspect of the state of a pod, such as PodScheduled, Initialized, ContainersReady, Ready or DisruptionTarget. */
export type PodCondition = {
  /** Which aspect this entry describes. There is at most one entry of each type. */
  type?: string;
  /** Whether it holds: True, False or Unknown. */
  status?: string;
  /** When the condition was last checked. */
  lastProbeTime?: string | null;
  /** Since when it has been so. */
  lastTransitionTime?: string | null;
  /** Why, in one word for programs. */
  reason?: string;
  /** Why, in a sentence for people. */
  message?: string;
  /** The generation of the pod from which the condition was set. */
  observedGeneration?: number | bigint;
};

/** Settings for looking up names, added to those of dnsPolicy. */
export type PodDNSConfig = {
  /** IP addresses of name servers, put after those of dnsPolicy; at most three. At least one for the policy None. */
  nameservers?: string[];
  /** Domains to search in, put after those of dnsPolicy; at most 32. */
  searches?: string[];
  /** Options of the resolver. They win over those of dnsPolicy with the same name. */
  options?: PodDNSConfigOption[];
};

/** An option of the resolver, as in resolv.conf. */
export type PodDNSConfigOption = {
  /** Name of the option, such as ndots. Required. */
  name?: string;
  /** Its value. Absent for options without one. */
  value?: string;
};

/** Parameters of a request to run a command in a container. */
export type PodExecOptions = {
  kind?: string;
  apiVersion?: string;
  /** Pass standard input on to the command. False unless set. */
  stdin?: boolean;
  /** Return the standard output of the command. False unless set. */
  stdout?: boolean;
  /** Return the standard error of the command. False unless set. */
  stderr?: boolean;
  /** Give the command a terminal; standard error then comes with standard output. False unless set. */
  tty?: boolean;
  /** Name of the container. Required if the pod has more than one. */
  container?: string;
  /** The program and its arguments. Not run in a shell. */
  command?: string[] | null;
};

/** An address of a pod. */
export type PodIP = {
  /** The address. */
  ip?: string;
};

/** A list of pods. */
export type PodList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The Pods of this page. */
  items?: Pod[] | null;
};

/** Parameters of a request for the log of a container. */
export type PodLogOptions = {
  kind?: string;
  apiVersion?: string;
  /** Name of the container. Required if the pod has more than one. */
  container?: string;
  /** Go on sending what is written to the log. False unless set. */
  follow?: boolean;
  /** The log of the run before the last restart. False unless set. */
  previous?: boolean;
  /** Only what was written in the last so many seconds. Not together with sinceTime. */
  sinceSeconds?: number | bigint;
  /** Only what was written after this time. Not together with sinceSeconds. */
  sinceTime?: string;
  /** Begin each line with the time it was written. False unless set. */
  timestamps?: boolean;
  /** Only the last so many lines. The whole log unless set. */
  tailLines?: number | bigint;
  /** Stop after so many bytes, perhaps in the middle of a line. At least 1; no limit unless set. */
  limitBytes?: number | bigint;
  /** Do not verify the certificate of the node. What comes back might then be forged. False unless set. */
  insecureSkipTLSVerifyBackend?: boolean;
  /** Which output: All, Stdout or Stderr. All unless set. Needs the feature gate PodLogsQuerySplitStreams. */
  stream?: string;
};

/** The operating system a pod is made for. */
export type PodOS = {
  /** linux or windows. Fields that belong to the other one are then refused. */
  name?: string;
};

/** Parameters of a request to reach ports of a pod. */
export type PodPortForwardOptions = {
  kind?: string;
  apiVersion?: string;
  /** The ports. Needed with WebSockets; otherwise each stream names its own. */
  ports?: number[];
};

/** Parameters of a request that is passed on to a pod. */
export type PodProxyOptions = {
  kind?: string;
  apiVersion?: string;
  /** Path to ask for at the other end, with its query. / unless set. */
  path?: string;
};

/** A further condition for a pod to be ready. */
export type PodReadinessGate = {
  /** Type of the condition in the status of the pod, which must be True. */
  conditionType?: string;
};

/** A resource claim of a pod that its containers can use. Exactly one of the claim and the template is given. */
export type PodResourceClaim = {
  /** Name by which containers refer to it, unique in the pod. A DNS label. */
  name?: string;
  /** Name of a claim of the same namespace. It may be shared and outlives the pod. */
  resourceClaimName?: string;
  /** Name of a template of the same namespace. A claim is made from it for this pod and deleted with it. */
  resourceClaimTemplateName?: string;
};

/** Which claim stands behind an entry of a pod's resource claims. */
export type PodResourceClaimStatus = {
  /** Name of the entry in the spec. */
  name?: string;
  /** Name of the claim that was made. Absent if none was needed. */
  resourceClaimName?: string;
};

/** Something a pod waits for before it is placed. */
export type PodSchedulingGate = {
  /** Unique in the pod. Best with the domain of the controller that removes it, such as example.com/quota. */
  name?: string;
};

/** Rights and identity of all containers of a pod. What a container sets for itself wins. */
export type PodSecurityContext = {
  /** SELinux label of the containers. The container runtime chooses one for each container unless set. */
  seLinuxOptions?: SELinuxOptions;
  /** Identity of the containers on Windows. */
  windowsOptions?: WindowsSecurityContextOptions;
  /** User ID of the first process of each container. That of the image unless set. Not for Windows. */
  runAsUser?: number | bigint;
  /** Group ID of the first process of each container. That of the image or the runtime unless set. Not for Windows. */
  runAsGroup?: number | bigint;
  /** Refuse to start containers that would run as user 0. False unless set. */
  runAsNonRoot?: boolean;
  /** IDs of further groups of the processes, besides runAsGroup and fsGroup. Not for Windows. */
  supplementalGroups?: (number | bigint)[];
  /** Merge adds the groups that the image gives the user, Strict leaves them out. Merge unless set. Needs the feature gate SupplementalGroupsPolicy. */
  supplementalGroupsPolicy?: string;
  /** ID of a further group of the processes, which also becomes the group of files in volumes that support it. Volumes are left as they are unless set. Not for Windows. */
  fsGroup?: number | bigint;
  /** Kernel parameters for the pod. Those that the node does not allow keep the pod from starting. Not for Windows. */
  sysctls?: Sysctl[];
  /** Always sets the group of all files whenever a volume is mounted, OnRootMismatch only if that of its root differs. Always unless set. */
  fsGroupChangePolicy?: string;
  /** Which system calls the containers may make. All unless set, except on nodes that then take RuntimeDefault. Not for Windows. */
  seccompProfile?: SeccompProfile;
  /** Which AppArmor profile confines the containers. RuntimeDefault unless set, where the node has AppArmor. Not for Windows. */
  appArmorProfile?: AppArmorProfile;
  /** How the SELinux label reaches the volumes: MountOption mounts them with it where the volume and its driver allow that, Recursive changes the label of every file. Not for Windows. Needs the feature gate SELinuxChangePolicy. */
  seLinuxChangePolicy?: string;
};

/** What makes pods count as alike. */
export type PodSignature = {
  /** The controller they belong to. */
  podController?: OwnerReference;
};

/** What a pod is to run, and under which conditions. */
export type PodSpec = {
  /** Volumes that the containers can mount. */
  volumes?: Volume[];
  /** Programs that run to their end, one after the other, before the others start. Those with restartPolicy Always keep running beside the others. */
  initContainers?: Container[];
  /** The programs that run. At least one; none can be added or removed later. */
  containers?: Container[] | null;
  /** Containers put in later to look for faults. Added only through the subresource ephemeralcontainers; never removed. */
  ephemeralContainers?: EphemeralContainer[];
  /** When ended containers are started again: Always, OnFailure or Never. Always unless set; some controllers allow only some of these. */
  restartPolicy?: string;
  /** Seconds between the signal to end and being killed; 0 kills at once. 30 unless set. */
  terminationGracePeriodSeconds?: number | bigint;
  /** Seconds the pod may be active after its start before it is ended and counts as failed. No limit unless set. */
  activeDeadlineSeconds?: number | bigint;
  /** Where names are looked up. ClusterFirst: the DNS of the cluster; ClusterFirstWithHostNet: the same for pods on the host network; Default: as the node does; None: only as dnsConfig says. ClusterFirst unless set. */
  dnsPolicy?: string;
  /** Labels a node must have to run this pod. Any node unless set. */
  nodeSelector?: { [key: string]: string };
  /** The identity of the pod's processes. The service account default unless set. */
  serviceAccountName?: string;
  /** Deprecated. Another name for serviceAccountName, kept equal to it. */
  serviceAccount?: string;
  /** Whether containers find a token of the service account in a volume. Unless set, as the service account says, otherwise true. */
  automountServiceAccountToken?: boolean;
  /** The node the pod runs on. Set by the scheduler; given beforehand, the pod is not scheduled. */
  nodeName?: string;
  /** Use the network of the node. Ports of the containers are then ports of the node. False unless set. */
  hostNetwork?: boolean;
  /** See and share the processes of the node. Not together with shareProcessNamespace. False unless set. */
  hostPID?: boolean;
  /** Use the interprocess communication of the node. False unless set. */
  hostIPC?: boolean;
  /** Let all containers see each other's processes. Not together with hostPID. False unless set. */
  shareProcessNamespace?: boolean;
  /** Rights and identity of all containers. Empty unless set. */
  securityContext?: PodSecurityContext;
  /** Secrets of the same namespace with the credentials for pulling images. Those of the service account unless set. */
  imagePullSecrets?: LocalObjectReference[];
  /** Name of the host as the pod sees it. The name of the pod unless set. */
  hostname?: string;
  /** With it the pod is known as hostname.subdomain.namespace.svc.domain, if a headless service of that name exists. No domain name unless set. */
  subdomain?: string;
  /** Where the pod may or should be placed. */
  affinity?: Affinity;
  /** Which scheduler places the pod. default-scheduler unless set. */
  schedulerName?: string;
  /** Taints the pod puts up with. */
  tolerations?: Toleration[];
  /** Lines added to the pod's /etc/hosts. */
  hostAliases?: HostAlias[];
  /** How important the pod is, by a priority class. system-node-critical and system-cluster-critical are the highest. The default class unless set, or priority 0 if there is none. */
  priorityClassName?: string;
  /** The number behind priorityClassName; higher is more important. Filled in from the class; another value is refused. */
  priority?: number;
  /** Settings for looking up names, added to those of dnsPolicy. */
  dnsConfig?: PodDNSConfig;
  /** Further conditions; unless all are True the pod is not ready. None unless set. */
  readinessGates?: PodReadinessGate[];
  /** The runtime class to run the pod with. The default handler of the node unless set; if the class does not exist, the pod is refused. */
  runtimeClassName?: string;
  /** Give containers environment variables with the addresses of services of the namespace. True unless set. */
  enableServiceLinks?: boolean;
  /** Whether less important pods may be evicted to make room: PreemptLowerPriority or Never. From the priority class, or PreemptLowerPriority, unless set. */
  preemptionPolicy?: string;
  /** Resources the pod needs beyond its containers. Filled in from the runtime class; another value is refused. */
  overhead?: { [key: string]: string };
  /** How evenly pods are spread over zones, nodes and other places. All of them must hold. */
  topologySpreadConstraints?: TopologySpreadConstraint[];
  /** Make the full domain name, not the short one, the host name the pod sees. Only if the pod has one. False unless set. */
  setHostnameAsFQDN?: boolean;
  /** The operating system the pod is made for. Must be that of the node. Fields of the other system are refused. */
  os?: PodOS;
  /** Use the users of the node, as is the case unless set. False gives the pod users of its own, so that root in it is nobody outside. Needs the feature gate UserNamespacesSupport. */
  hostUsers?: boolean;
  /** The pod is not scheduled until this list is empty. Entries can be given only at creation, and later only be removed. */
  schedulingGates?: PodSchedulingGate[];
  /** Resource claims that must be met before the pod starts, and that containers can refer to. Needs the feature gate DynamicResourceAllocation. */
  resourceClaims?: PodResourceClaim[];
  /** What all containers of the pod together may use and have set aside: cpu, memory and huge pages. What the containers state themselves must fit into it. Needs the feature gate PodLevelResources. */
  resources?: ResourceRequirements;
  /** Name of the host as the pod sees it, whatever hostname and subdomain say: a DNS name of up to 64 letters. Needs the feature gate HostnameOverride. */
  hostnameOverride?: string;
  /** The workload that the pod belongs to, and its group there. Needs the feature gate GenericWorkload. */
  workloadRef?: WorkloadReference;
  /** The group of pods with which this one is scheduled. Needs the feature gate GenericWorkload. */
  schedulingGroup?: PodSchedulingGroup;
};

/** What was last observed of a pod. Mostly written by the node agent. */
export type PodStatus = {
  /** Pending: not all containers started yet; Running; Succeeded: all ended well; Failed: all ended, at least one badly; Unknown: the node is out of reach. */
  phase?: string;
  /** Aspects of the state, each with since when it holds. */
  conditions?: PodCondition[];
  /** Why, in a sentence for people. */
  message?: string;
  /** Why, in one word for programs, such as Evicted. */
  reason?: string;
  /** The node where other pods are being evicted to make room for this one. It may yet be placed elsewhere. */
  nominatedNodeName?: string;
  /** Address of the node the pod is assigned to. Empty before. */
  hostIP?: string;
  /** Addresses of the node, the first equal to hostIP. Empty before the pod has started there. */
  hostIPs?: HostIP[];
  /** Address of the pod in the cluster. Empty until it has one. */
  podIP?: string;
  /** Addresses of the pod, at most one for IPv4 and one for IPv6. The first equals podIP. */
  podIPs?: PodIP[];
  /** When the node agent took the pod on, before any images were pulled. */
  startTime?: string;
  /** What was observed of each init container, in their order. */
  initContainerStatuses?: ContainerStatus[];
  /** What was observed of each container. */
  containerStatuses?: ContainerStatus[];
  /** How likely the pod is to be evicted when resources run short, from its requests and limits. Guaranteed goes last, then Burstable; BestEffort goes first. Cannot be changed. */
  qosClass?: string;
  /** What was observed of each ephemeral container. */
  ephemeralContainerStatuses?: ContainerStatus[];
  /** How a change of resources is going: Proposed, InProgress, Deferred or Infeasible. Empty when none is under way. Needs the feature gate InPlacePodVerticalScaling. */
  resize?: string;
  /** Which claims were made for the pod. Needs the feature gate DynamicResourceAllocation. */
  resourceClaimStatuses?: PodResourceClaimStatus[];
  /** The generation of the pod of which this is the status. */
  observedGeneration?: number | bigint;
  /** The claim that was made for the pod's extended resources. Needs the feature gate DRAExtendedResource. */
  extendedResourceClaimStatus?: PodExtendedResourceClaimStatus;
  /** What the node has set aside for the pod as a whole. Needs the feature gate InPlacePodLevelResourcesVerticalScaling. */
  allocatedResources?: { [key: string]: string };
  /** What the pod as a whole may use by now. Needs the feature gate InPlacePodLevelResourcesVerticalScaling. */
  resources?: ResourceRequirements;
  /** What claims take of the node's own resources. Needs the feature gate DRANodeAllocatableResources. */
  nodeAllocatableResourceClaimStatuses?: NodeAllocatableResourceClaimStatus[];
};

/** The status of a pod alone. No longer used. */
export type PodStatusResult = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** What was last observed of the pod. */
  status?: PodStatus;
};

/** A template that pods are made from, stored by itself. */
export type PodTemplate = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** The pods to make. */
  template?: PodTemplateSpec;
};

/** A list of pod templates. */
export type PodTemplateList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The PodTemplates of this page. */
  items?: PodTemplate[] | null;
};

/** The pods that a controller makes: their metadata and their spec. */
export type PodTemplateSpec = {
  /** Labels and annotations for the pods. Their names come from the controller. */
  metadata?: ObjectMeta;
  /** What is wanted. */
  spec?: PodSpec;
};

/** What became of one port of a load balancer. */
export type PortStatus = {
  /** Number of the port of the service. */
  port?: number;
  /** TCP, UDP or SCTP. */
  protocol?: string;
  /** Why the port does not work, in one CamelCase word for programs. Absent if it works. */
  error?: string;
};

/** A volume of Portworx. Deprecated; use a CSI driver. */
export type PortworxVolumeSource = {
  /** ID of the volume in Portworx. */
  volumeID?: string;
  /** Type of the file system on the volume, such as ext4 or xfs. ext4 unless set. */
  fsType?: string;
  /** Mount the volume read-only. False unless set. */
  readOnly?: boolean;
};

/** What must be true of an object for an operation to be done. */
export type Preconditions = {
  /** The UID it must have, so that no later object of the same name is hit. Not checked when absent. */
  uid?: string;
};

/** Pods of one controller that should go elsewhere. */
export type PreferAvoidPodsEntry = {
  /** Which pods are meant. */
  podSignature?: PodSignature;
  /** When this entry was made. */
  evictionTime?: string | null;
  /** Why, in one word for programs. */
  reason?: string;
  /** Why, in a sentence for people. */
  message?: string;
};

/** A preference for some nodes and its weight. An empty term prefers none. */
export type PreferredSchedulingTerm = {
  /** How strong the preference is, 1 to 100. */
  weight?: number;
  /** Which nodes are preferred. */
  preference?: NodeSelectorTerm;
};

/** A check that the node agent repeats on a container: start-up, readiness or liveness. */
export type Probe = {
  /** Run a command in the container. */
  exec?: ExecAction;
  /** Send an HTTP request. */
  httpGet?: HTTPGetAction;
  /** Open a TCP connection. */
  tcpSocket?: TCPSocketAction;
  /** Call the gRPC health service. */
  grpc?: GRPCAction;
  /** Seconds after the start before the first check. 0 unless set. */
  initialDelaySeconds?: number;
  /** Seconds a check may take before it counts as failed. 1 unless set. */
  timeoutSeconds?: number;
  /** Seconds between checks. 10 unless set. */
  periodSeconds?: number;
  /** Successes in a row that count as good again. 1 unless set; liveness and start-up allow only 1. */
  successThreshold?: number;
  /** Failures in a row that count as failed. 3 unless set. */
  failureThreshold?: number;
  /** Seconds to end in when this probe fails, in place of the pod's own; at least 1. Not for readiness. The pod's value unless set. */
  terminationGracePeriodSeconds?: number | bigint;
};

/** What a check does. Exactly one is given. */
export type ProbeHandler = {
  /** Run a command in the container. */
  exec?: ExecAction;
  /** Send an HTTP request. */
  httpGet?: HTTPGetAction;
  /** Open a TCP connection. */
  tcpSocket?: TCPSocketAction;
  /** Call the gRPC health service. */
  grpc?: GRPCAction;
};

/** A directory that brings together files from several sources. */
export type ProjectedVolumeSource = {
  /** Where the files come from. Their paths must not clash. */
  sources?: VolumeProjection[] | null;
  /** Permission bits of the files made, 0 to 511; YAML also takes octal such as 0644. 420, which is 0644, unless set. fsGroup and the mode of single files may change it. */
  defaultMode?: number;
};

/** A volume of Quobyte. No node of this version can mount it. */
export type QuobyteVolumeSource = {
  /** Addresses of the registries, as host:port, separated by commas. */
  registry?: string;
  /** Name of the volume. */
  volume?: string;
  /** Mount the volume read-only. False unless set. */
  readOnly?: boolean;
  /** User to mount as. That of the service unless set. */
  user?: string;
  /** Group to mount as. None unless set. */
  group?: string;
  /** Tenant the volume belongs to. Set by the provisioner. */
  tenant?: string;
};

/** An image of Ceph RBD, for persistent volumes. No node of this version can mount it. */
export type RBDPersistentVolumeSource = {
  /** Addresses of the Ceph monitors, as host:port. */
  monitors?: string[] | null;
  /** Name of the image. */
  image?: string;
  /** Type of the file system on the volume, such as ext4 or xfs. ext4 unless set. */
  fsType?: string;
  /** Pool the image is in. rbd unless set. */
  pool?: string;
  /** Ceph user to connect as. admin unless set. */
  user?: string;
  /** File on the node with the key of the user. /etc/ceph/keyring unless set. */
  keyring?: string;
  /** Secret with the key of the user. Takes the place of keyring. */
  secretRef?: SecretReference;
  /** Mount the volume read-only. False unless set. */
  readOnly?: boolean;
};

/** An image of Ceph RBD. No node of this version can mount it. */
export type RBDVolumeSource = {
  /** Addresses of the Ceph monitors, as host:port. */
  monitors?: string[] | null;
  /** Name of the image. */
  image?: string;
  /** Type of the file system on the volume, such as ext4 or xfs. ext4 unless set. */
  fsType?: string;
  /** Pool the image is in. rbd unless set. */
  pool?: string;
  /** Ceph user to connect as. admin unless set. */
  user?: string;
  /** File on the node with the key of the user. /etc/ceph/keyring unless set. */
  keyring?: string;
  /** Secret of the pod's namespace with the key of the user. Takes the place of keyring. */
  secretRef?: LocalObjectReference;
  /** Mount the volume read-only. False unless set. */
  readOnly?: boolean;
};

/** Which members of a range are taken, such as the addresses of services. Internal to the server. */
export type RangeAllocation = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** The range, such as 10.96.0.0/12 or 30000-32767. */
  range?: string;
  /** One bit for each member, set when it is taken. */
  data?: string | null;
};

/** Keeps a number of equal pods running. Deployments do this better. */
export type ReplicationController = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** What is wanted. */
  spec?: ReplicationControllerSpec;
  /** What was last observed. Written by controllers. */
  status?: ReplicationControllerStatus;
};

/** One aspect of the state of a replication controller, and since when it holds. ReplicaFailure tells that pods could not be created or deleted. */
export type ReplicationControllerCondition = {
  /** Which aspect this entry describes. There is at most one entry of each type. */
  type?: string;
  /** Whether it holds: True, False or Unknown. */
  status?: string;
  /** Since when it has been so. */
  lastTransitionTime?: string | null;
  /** Why, in one word for programs. */
  reason?: string;
  /** Why, in a sentence for people. */
  message?: string;
};

/** A list of replication controllers. */
export type ReplicationControllerList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The ReplicationControllers of this page. */
  items?: ReplicationController[] | null;
};

/** What is wanted of a replication controller. */
export type ReplicationControllerSpec = {
  /** How many pods are wanted. 1 unless set. */
  replicas?: number;
  /** Seconds a pod must be ready to count as available. 0 unless set. */
  minReadySeconds?: number;
  /** Labels of the pods that belong to it. The labels of the template unless set. */
  selector?: { [key: string]: string };
  /** The pods to make. */
  template?: PodTemplateSpec;
};

/** What was last observed of a replication controller. */
export type ReplicationControllerStatus = {
  /** How many pods there are. */
  replicas?: number;
  /** How many of the pods have all the labels of the template. */
  fullyLabeledReplicas?: number;
  /** How many of the pods are ready. */
  readyReplicas?: number;
  /** How many of the pods have been ready for at least minReadySeconds. */
  availableReplicas?: number;
  /** The generation of the object that this status is about. Out of date if lower than metadata.generation. */
  observedGeneration?: number | bigint;
  /** Aspects of the state, each with since when it holds. */
  conditions?: ReplicationControllerCondition[];
};

/** A resource claim of the pod that a container uses. */
export type ResourceClaim = {
  /** Name of an entry of the pod's resourceClaims. */
  name?: string;
  /** The request within the claim whose result the container gets. The whole claim unless set. A DNS label. */
  request?: string;
};

/** A request or limit of a container, as a number. */
export type ResourceFieldSelector = {
  /** The container. Required in volumes; in environment variables the container itself unless set. */
  containerName?: string;
  /** The resource: limits.cpu, requests.memory, limits.ephemeral-storage and the like. */
  resource?: string;
  /** Unit in which the number is given, rounded up: 1 or 1m for cpu; 1, 1k, 1Ki, 1M, 1Mi and so on for the others. 1 unless set. */
  divisor?: string;
};

/** Health of one device. */
export type ResourceHealth = {
  /** ID of the device, as the plugin on the node names it. */
  resourceID?: string;
  /** Healthy, Unhealthy or Unknown. Unknown also when the plugin does not say. */
  health?: string;
  /** Why the health is as it is, for people. Needs the feature gate ResourceHealthStatusMessage. */
  message?: string;
};

/** Limits what all objects of a namespace may use together. What would exceed it is refused. */
export type ResourceQuota = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** What is wanted. */
  spec?: ResourceQuotaSpec;
  /** What was last observed. Written by controllers. */
  status?: ResourceQuotaStatus;
};

/** A list of resource quotas. */
export type ResourceQuotaList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The ResourceQuotas of this page. */
  items?: ResourceQuota[] | null;
};

/** Which limits hold in a namespace, and which objects count. */
export type ResourceQuotaSpec = {
  /** The most of each resource, by name, such as requests.cpu, limits.memory, pods or count/deployments.apps. */
  hard?: { [key: string]: string };
  /** Only objects to which all of these apply count. All objects unless set. */
  scopes?: string[];
  /** Like scopes, but can also compare values, such as the names of priority classes. Both must hold. */
  scopeSelector?: ScopeSelector;
};

/** What was last observed of a quota. */
export type ResourceQuotaStatus = {
  /** The limits that are enforced. */
  hard?: { [key: string]: string };
  /** How much of each is in use. */
  used?: { [key: string]: string };
};

/** How much CPU, memory and other resources a container asks for and may use at most. */
export type ResourceRequirements = {
  /** The most the container may use, by resource: CPU is throttled, and too much memory ends the container. No limit unless set. */
  limits?: { [key: string]: string };
  /** What is set aside for the container, by resource; decides which nodes have room. May not exceed the limits. The same as the limits unless set, or nothing if there are none. */
  requests?: { [key: string]: string };
  /** Resource claims of the pod that the container uses. Cannot be changed. Needs the feature gate DynamicResourceAllocation. */
  claims?: ResourceClaim[];
};

/** Health of the devices of one resource that a container has. */
export type ResourceStatus = {
  /** Name of the resource, such as example.com/gpu. */
  name?: string;
  /** The devices one by one. */
  resources?: ResourceHealth[];
};

/** SELinux label of a container. Parts not given are chosen by the container runtime. */
export type SELinuxOptions = {
  /** The user part of the label. */
  user?: string;
  /** The role part of the label. */
  role?: string;
  /** The type part of the label. */
  type?: string;
  /** The level part of the label, such as s0:c123,c456. */
  level?: string;
};

/** A volume of ScaleIO, for persistent volumes. No node of this version can mount it. */
export type ScaleIOPersistentVolumeSource = {
  /** Address of the ScaleIO gateway. */
  gateway?: string;
  /** Name of the storage system. */
  system?: string;
  /** Secret with the user and password. */
  secretRef?: SecretReference;
  /** Speak TLS with the gateway. False unless set. */
  sslEnabled?: boolean;
  /** Name of the protection domain. */
  protectionDomain?: string;
  /** Name of the storage pool in it. */
  storagePool?: string;
  /** ThickProvisioned or ThinProvisioned. ThinProvisioned unless set. */
  storageMode?: string;
  /** Name of the volume, which must exist. */
  volumeName?: string;
  /** Type of the file system on the volume. xfs unless set. */
  fsType?: string;
  /** Mount the volume read-only. False unless set. */
  readOnly?: boolean;
};

/** A volume of ScaleIO. No node of this version can mount it. */
export type ScaleIOVolumeSource = {
  /** Address of the ScaleIO gateway. */
  gateway?: string;
  /** Name of the storage system. */
  system?: string;
  /** Secret of the pod's namespace with the user and password. */
  secretRef?: LocalObjectReference;
  /** Speak TLS with the gateway. False unless set. */
  sslEnabled?: boolean;
  /** Name of the protection domain. */
  protectionDomain?: string;
  /** Name of the storage pool in it. */
  storagePool?: string;
  /** ThickProvisioned or ThinProvisioned. ThinProvisioned unless set. */
  storageMode?: string;
  /** Name of the volume, which must exist. */
  volumeName?: string;
  /** Type of the file system on the volume. xfs unless set. */
  fsType?: string;
  /** Mount the volume read-only. False unless set. */
  readOnly?: boolean;
};

/** Selects the objects a quota counts, by their scopes. */
export type ScopeSelector = {
  /** Requirements, all of which must hold. */
  matchExpressions?: ScopedResourceSelectorRequirement[];
};

/** A requirement on one scope. */
export type ScopedResourceSelectorRequirement = {
  /** The scope. Terminating: pods with activeDeadlineSeconds; BestEffort: pods without requests and limits; the opposites begin with Not. PriorityClass and CrossNamespacePodAffinity are the others. */
  scopeName?: string;
  /** How the scope is compared: In, NotIn, Exists or DoesNotExist. All but PriorityClass allow only Exists. */
  operator?: string;
  /** Values for In and NotIn, at least one. Must be empty for Exists and DoesNotExist. */
  values?: string[];
};

/** Which system calls a container may make. */
export type SeccompProfile = {
  /** Localhost takes a profile from a file on the node, RuntimeDefault that of the container runtime, Unconfined none. */
  type?: string;
  /** Path of the file, below the profile directory of the node agent. Required for Localhost, not allowed otherwise. */
  localhostProfile?: string;
};

/** Confidential data such as passwords and keys, for pods to read. At most 1 MiB in all. */
export type Secret = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** True forbids any change of the data and of this field; only deleting remains. False unless set. */
  immutable?: boolean;
  /** Values as bytes, written in base64. Keys may have letters, digits, dashes, underscores and dots. */
  data?: { [key: string]: string };
  /** Values as text, for writing only: each is put into data and wins over a value there. Never shown. */
  stringData?: { [key: string]: string };
  /** What the data is for; some types require certain keys. Cannot be changed. Opaque unless set. */
  type?: string;
};

/** A secret whose keys all become environment variables. */
export type SecretEnvSource = {
  /** Name of an object in the same namespace. An empty name is accepted but refers to nothing. */
  name?: string;
  /** Go on without it if the secret does not exist, instead of keeping the container from starting. False unless set. */
  optional?: boolean;
};

/** One key of a secret. */
export type SecretKeySelector = {
  /** Name of an object in the same namespace. An empty name is accepted but refers to nothing. */
  name?: string;
  /** The key whose value is taken. */
  key?: string;
  /** Go on without the value if the secret or the key does not exist. False unless set. */
  optional?: boolean;
};

/** A list of secrets. */
export type SecretList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The Secrets of this page. */
  items?: Secret[] | null;
};

/** Keys of a secret as files of a projected volume. */
export type SecretProjection = {
  /** Name of an object in the same namespace. An empty name is accepted but refers to nothing. */
  name?: string;
  /** Which keys become files, and under which paths. All keys, each as a file of its name, unless set. A listed key that does not exist stops the pod, unless the source is optional. */
  items?: KeyToPath[];
  /** Go on without the files if the secret or a key does not exist, instead of keeping the pod from starting. False unless set. */
  optional?: boolean;
};

/** Names a secret, possibly of another namespace. */
export type SecretReference = {
  /** Name of the secret. */
  name?: string;
  /** Namespace of the secret. */
  namespace?: string;
};

/** A directory in memory with the keys of a secret as files. The files follow changes of the secret. */
export type SecretVolumeSource = {
  /** Name of the secret, in the namespace of the pod. */
  secretName?: string;
  /** Which keys become files, and under which paths. All keys, each as a file of its name, unless set. A listed key that does not exist stops the pod, unless the source is optional. */
  items?: KeyToPath[];
  /** Permission bits of the files made, 0 to 511; YAML also takes octal such as 0644. 420, which is 0644, unless set. fsGroup and the mode of single files may change it. */
  defaultMode?: number;
  /** Go on without the files if the secret or a key does not exist, instead of keeping the pod from starting. False unless set. */
  optional?: boolean;
};

/** Rights and identity of one container. What is set here wins over the pod's. */
export type SecurityContext = {
  /** Linux capabilities to add or take away. Those of the container runtime unless set. Not for Windows. */
  capabilities?: Capabilities;
  /** Give the container almost all power over the node. False unless set. Not for Windows. */
  privileged?: boolean;
  /** SELinux label of the container. The pod's unless set. Not for Windows. */
  seLinuxOptions?: SELinuxOptions;
  /** Identity of the container on Windows. The pod's unless set. */
  windowsOptions?: WindowsSecurityContextOptions;
  /** User ID of the first process. The pod's, or that of the image, unless set. Not for Windows. */
  runAsUser?: number | bigint;
  /** Group ID of the first process. The pod's, or that of the image or the runtime, unless set. Not for Windows. */
  runAsGroup?: number | bigint;
  /** Refuse to start the container as user 0. The pod's value, or false, unless set. */
  runAsNonRoot?: boolean;
  /** Let the container write only to its volumes. False unless set. Not for Windows. */
  readOnlyRootFilesystem?: boolean;
  /** Whether a process may gain more rights than its parent, such as by setuid. Always so for privileged containers and with CAP_SYS_ADMIN. True unless set; not for Windows. */
  allowPrivilegeEscalation?: boolean;
  /** Default hides and protects parts of /proc, Unmasked shows all. Default unless set; not for Windows. Unmasked needs users of its own for the pod and the feature gate ProcMountType. */
  procMount?: string;
  /** Which system calls the container may make. The pod's unless set. Not for Windows. */
  seccompProfile?: SeccompProfile;
  /** Which AppArmor profile confines the container. The pod's unless set. Not for Windows. */
  appArmorProfile?: AppArmorProfile;
};

/** Points to an object, in a form to be kept as text in an annotation. */
export type SerializedReference = {
  kind?: string;
  apiVersion?: string;
  /** The object. */
  reference?: ObjectReference;
};

/** A stable name and address for a set of pods that changes. */
export type Service = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** What is wanted. */
  spec?: ServiceSpec;
  /** What was last observed. Written by controllers. */
  status?: ServiceStatus;
};

/** An identity for the processes in pods. */
export type ServiceAccount = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** Secrets that pods with this account may use, where that is enforced by an annotation. Not needed for tokens. */
  secrets?: ObjectReference[];
  /** Secrets of the same namespace with credentials for pulling images, given to pods that name none. */
  imagePullSecrets?: LocalObjectReference[];
  /** Whether pods with this account find a token in a volume. A pod may decide otherwise. True unless set. */
  automountServiceAccountToken?: boolean;
};

/** A list of service accounts. */
export type ServiceAccountList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The ServiceAccounts of this page. */
  items?: ServiceAccount[] | null;
};

/** A token of the pod's service account as a file. It is renewed before it expires. */
export type ServiceAccountTokenProjection = {
  /** Whom the token is for; others should refuse it. The API server unless set. */
  audience?: string;
  /** Seconds the token is wanted to last; at least 600. 3600 unless set. The server may give less. */
  expirationSeconds?: number | bigint;
  /** Path of the file within the volume. Relative, and without any .. in it. */
  path?: string;
};

/** A list of services. */
export type ServiceList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The Services of this page. */
  items?: Service[] | null;
};

/** A port of a service and the port of the pods behind it. */
export type ServicePort = {
  /** Name of the port, unique in the service; a DNS label. Required if there are several ports. */
  name?: string;
  /** TCP, UDP or SCTP. TCP unless set. */
  protocol?: string;
  /** The protocol spoken on top, as a hint: an IANA service name, kubernetes.io/h2c, kubernetes.io/ws, kubernetes.io/wss, or a name with a prefix of your own. Unknown unless set. */
  appProtocol?: string;
  /** The port at which the service is reached, 1 to 65535. */
  port?: number;
  /** Number or name of the port of the pods. The same as port unless set; ignored for headless services. */
  targetPort?: number | string;
  /** Port on every node, for NodePort and LoadBalancer. Assigned unless set; refused if it is taken or out of range. */
  nodePort?: number;
};

/** Parameters of a request that is passed on to a service. */
export type ServiceProxyOptions = {
  kind?: string;
  apiVersion?: string;
  /** Path to ask for at the other end, with its query. / unless set. */
  path?: string;
};

/** What is wanted of a service. */
export type ServiceSpec = {
  /** The ports of the service. At least one, unless it is headless or of type ExternalName. */
  ports?: ServicePort[];
  /** Labels of the pods that traffic goes to. Without it the endpoints are someone else's duty. Ignored for ExternalName. */
  selector?: { [key: string]: string };
  /** Address within the cluster. Assigned unless set; None for a headless service. Cannot be changed, except by changing the type to or from ExternalName. */
  clusterIP?: string;
  /** Addresses within the cluster, at most one for IPv4 and one for IPv6. The first equals clusterIP. */
  clusterIPs?: string[];
  /** How the service is reached. ClusterIP: within the cluster; NodePort: also at a port of every node; LoadBalancer: also through a load balancer; ExternalName: stands for a DNS name. ClusterIP unless set. */
  type?: string;
  /** Addresses for which nodes also take traffic for this service. Bringing the traffic there is the administrator's duty. */
  externalIPs?: string[];
  /** ClientIP sends each client to the same pod for a time, None does not. None unless set. */
  sessionAffinity?: string;
  /** Deprecated. Address wanted for the load balancer. Ignored where the provider does not support it. */
  loadBalancerIP?: string;
  /** Networks whose clients the load balancer lets in, such as 203.0.113.0/24. All unless set, if the provider supports it. */
  loadBalancerSourceRanges?: string[];
  /** The DNS name that an ExternalName service stands for, in lower case. */
  externalName?: string;
  /** Traffic from outside. Cluster spreads it over all pods; Local keeps it on the node where it arrives and keeps the client's address, but drops it if there is no pod. Cluster unless set. */
  externalTrafficPolicy?: string;
  /** Port of every node where load balancers ask whether it has pods of the service. Only for LoadBalancer with externalTrafficPolicy Local. Assigned unless set; cannot be changed. */
  healthCheckNodePort?: number;
  /** Treat pods as ready whether they are or not. For peers that must find each other while starting. False unless set. */
  publishNotReadyAddresses?: boolean;
  /** Settings for sessionAffinity. */
  sessionAffinityConfig?: SessionAffinityConfig;
  /** Address families of the service, the first for clusterIP. Chosen by the cluster and ipFamilyPolicy unless set. The first cannot be changed. */
  ipFamilies?: string[];
  /** SingleStack: one family; PreferDualStack: both where the cluster has them; RequireDualStack: both or refused. SingleStack unless set. */
  ipFamilyPolicy?: string;
  /** Whether ports of a LoadBalancer service also get node ports. Ports that are asked for are always given. True unless set. */
  allocateLoadBalancerNodePorts?: boolean;
  /** Which load balancer implementation serves this, such as example.com/internal. The default one unless set. Only for LoadBalancer; cannot be changed while the type stays. */
  loadBalancerClass?: string;
  /** Traffic from within the cluster. Cluster spreads it over all pods; Local sends it only to pods on the same node and drops it if there are none. Cluster unless set. */
  internalTrafficPolicy?: string;
  /** PreferClose sends traffic to pods in the same zone where possible. No preference unless set. */
  trafficDistribution?: string;
};

/** What was last observed of a service. */
export type ServiceStatus = {
  /** Where the load balancer takes traffic, if there is one. */
  loadBalancer?: LoadBalancerStatus;
  /** Aspects of the state, each with since when it holds. */
  conditions?: Condition[];
};

/** Settings for keeping clients with the same pod. */
export type SessionAffinityConfig = {
  /** Settings for the affinity ClientIP. */
  clientIP?: ClientIPConfig;
};

/** A wait. */
export type SleepAction = {
  /** Seconds to wait; at least 1, and no more than the grace period of the pod. */
  seconds?: number | bigint;
};

/** A volume of StorageOS, for persistent volumes. No node of this version can mount it. */
export type StorageOSPersistentVolumeSource = {
  /** Name of the volume. */
  volumeName?: string;
  /** Namespace of the volume in StorageOS. That of the claim unless set. */
  volumeNamespace?: string;
  /** Type of the file system on the volume, such as ext4 or xfs. ext4 unless set. */
  fsType?: string;
  /** Mount the volume read-only. False unless set. */
  readOnly?: boolean;
  /** Secret with what is needed to reach StorageOS. Default credentials unless set. */
  secretRef?: ObjectReference;
};

/** A volume of StorageOS. No node of this version can mount it. */
export type StorageOSVolumeSource = {
  /** Name of the volume. */
  volumeName?: string;
  /** Namespace of the volume in StorageOS. That of the pod unless set. */
  volumeNamespace?: string;
  /** Type of the file system on the volume, such as ext4 or xfs. ext4 unless set. */
  fsType?: string;
  /** Mount the volume read-only. False unless set. */
  readOnly?: boolean;
  /** Secret of the pod's namespace with what is needed to reach StorageOS. Default credentials unless set. */
  secretRef?: LocalObjectReference;
};

/** A kernel parameter. */
export type Sysctl = {
  /** Name of the parameter, such as net.core.somaxconn. */
  name?: string;
  /** Its value. */
  value?: string;
};

/** A TCP connection by the node. It succeeds if it can be opened. */
export type TCPSocketAction = {
  /** Number of the port, 1 to 65535, or the name of a port of the container. */
  port?: number | string;
  /** Host to connect to. The IP of the pod unless set. */
  host?: string;
};

/** Keeps pods away from a node unless they tolerate it. */
export type Taint = {
  /** Key of the taint, written like that of a label. */
  key?: string;
  /** Value of the taint. May be empty. */
  value?: string;
  /** What happens to pods that do not tolerate it. NoSchedule: no new ones; PreferNoSchedule: no new ones if avoidable; NoExecute: running ones are evicted as well. */
  effect?: string;
  /** When the taint was added. Only written for NoExecute. */
  timeAdded?: string;
};

/** Lets a pod be placed on nodes that carry a matching taint. */
export type Toleration = {
  /** Key of the taints that are tolerated. Empty tolerates every key, and then the operator must be Exists. */
  key?: string;
  /** Exists tolerates any value, Equal only the given one. Equal unless set. */
  operator?: string;
  /** Value that is tolerated. Must be empty for Exists. */
  value?: string;
  /** Effect that is tolerated. All effects unless set. */
  effect?: string;
  /** Seconds the pod stays after a NoExecute taint appears; 0 or less means none. For ever unless set. Only for NoExecute. */
  tolerationSeconds?: number | bigint;
};

/** A label of nodes and the values that are allowed. */
export type TopologySelectorLabelRequirement = {
  /** Key of the label. */
  key?: string;
  /** The values, one of which the label must have. */
  values?: string[] | null;
};

/** Selects places where storage may be made, by labels of nodes. */
export type TopologySelectorTerm = {
  /** Requirements on labels, all of which must hold. */
  matchLabelExpressions?: TopologySelectorLabelRequirement[];
};

/** How evenly pods are spread over places, such as zones or nodes. */
export type TopologySpreadConstraint = {
  /** By how many pods a place may exceed the emptiest one; at least 1. With ScheduleAnyway, places that lessen the difference are preferred. */
  maxSkew?: number;
  /** Label of nodes whose value makes the place. Nodes without it are left out. */
  topologyKey?: string;
  /** If no place fits, DoNotSchedule leaves the pod waiting and ScheduleAnyway places it as well as possible. */
  whenUnsatisfiable?: string;
  /** Labels of the pods that are counted, within the namespace. Absent counts none. */
  labelSelector?: LabelSelector;
  /** With fewer places than this the emptiest counts as having no pods, so that new places are called for. At least 1; only with DoNotSchedule. 1 unless set. */
  minDomains?: number;
  /** Whether nodes that the pod's nodeSelector and affinity rule out are left out: Honor or Ignore. Honor unless set. */
  nodeAffinityPolicy?: string;
  /** Whether nodes with taints that the pod does not tolerate are left out: Honor or Ignore. Ignore unless set. */
  nodeTaintsPolicy?: string;
  /** Labels for which the counted pods must have the same value as this one. Keys the pod does not have are ignored. Not without labelSelector, and not keys that it names. */
  matchLabelKeys?: string[];
};

/** Names an object of any kind in the same namespace. */
export type TypedLocalObjectReference = {
  /** Group of the object's kind. Absent or empty for the core group. */
  apiGroup?: string;
  /** Kind of the object. */
  kind?: string;
  /** Name of the object. */
  name?: string;
};

/** Names an object of any kind, possibly in another namespace. */
export type TypedObjectReference = {
  /** Group of the object's kind. Absent or empty for the core group. */
  apiGroup?: string;
  /** Kind of the object. */
  kind?: string;
  /** Name of the object. */
  name?: string;
  /** Namespace of the object, which must allow it by a ReferenceGrant. The same namespace unless set. Needs the feature gate CrossNamespaceVolumeDataSource. */
  namespace?: string;
};

/** A directory that containers of a pod can mount, and where its content comes from. */
export type Volume = {
  /** Unique within the pod; a DNS label. Mounts refer to it. */
  name?: string;
  /** A file or directory of the node itself. */
  hostPath?: HostPathVolumeSource;
  /** A directory that begins empty and is deleted with the pod. */
  emptyDir?: EmptyDirVolumeSource;
  /** A disk of Google Compute Engine. Deprecated; use CSI. */
  gcePersistentDisk?: GCEPersistentDiskVolumeSource;
  /** A disk of AWS Elastic Block Store. Deprecated; use CSI. */
  awsElasticBlockStore?: AWSElasticBlockStoreVolumeSource;
  /** A copy of a Git repository. Deprecated; clone into an emptyDir from an init container. */
  gitRepo?: GitRepoVolumeSource;
  /** Keys of a secret, as files. */
  secret?: SecretVolumeSource;
  /** A directory of an NFS server. */
  nfs?: NFSVolumeSource;
  /** A disk reached by iSCSI. */
  iscsi?: ISCSIVolumeSource;
  /** A volume of GlusterFS. No node of this version can mount it. */
  glusterfs?: GlusterfsVolumeSource;
  /** The volume of a claim. */
  persistentVolumeClaim?: PersistentVolumeClaimVolumeSource;
  /** An image of Ceph RBD. No node of this version can mount it. */
  rbd?: RBDVolumeSource;
  /** A volume of a program on the node. Deprecated; use CSI. */
  flexVolume?: FlexVolumeSource;
  /** A volume of OpenStack Cinder. Deprecated; use CSI. */
  cinder?: CinderVolumeSource;
  /** A directory of a Ceph file system. No node of this version can mount it. */
  cephfs?: CephFSVolumeSource;
  /** A volume of Flocker. No node of this version can mount it. */
  flocker?: FlockerVolumeSource;
  /** Fields of the pod, as files. */
  downwardAPI?: DownwardAPIVolumeSource;
  /** A volume of a Fibre Channel network. */
  fc?: FCVolumeSource;
  /** A file share of Azure. Deprecated; use CSI. */
  azureFile?: AzureFileVolumeSource;
  /** Keys of a config map, as files. */
  configMap?: ConfigMapVolumeSource;
  /** A disk of vSphere. Deprecated; use CSI. */
  vsphereVolume?: VsphereVirtualDiskVolumeSource;
  /** A volume of Quobyte. No node of this version can mount it. */
  quobyte?: QuobyteVolumeSource;
  /** A data disk of Azure. Deprecated; use CSI. */
  azureDisk?: AzureDiskVolumeSource;
  /** A disk of Photon. No node of this version can mount it. */
  photonPersistentDisk?: PhotonPersistentDiskVolumeSource;
  /** Files from several sources in one directory. */
  projected?: ProjectedVolumeSource;
  /** A volume of Portworx. Deprecated; use CSI. */
  portworxVolume?: PortworxVolumeSource;
  /** A volume of ScaleIO. No node of this version can mount it. */
  scaleIO?: ScaleIOVolumeSource;
  /** A volume of StorageOS. No node of this version can mount it. */
  storageos?: StorageOSVolumeSource;
  /** A volume that a CSI driver makes for this pod alone. */
  csi?: CSIVolumeSource;
  /** A volume made by a claim that belongs to the pod and is deleted with it. */
  ephemeral?: EphemeralVolumeSource;
  /** The content of an image or other OCI artifact, read-only. Needs the feature gate ImageVolume. */
  image?: ImageVolumeSource;
};

/** Where a container sees one of its pod's volumes as a device. */
export type VolumeDevice = {
  /** Name of the volume, which must be a claim of mode Block. */
  name?: string;
  /** Path of the device in the container. Unique in the container. */
  devicePath?: string;
};

/** Where a container sees one of its pod's volumes. */
export type VolumeMount = {
  /** Name of the volume. */
  name?: string;
  /** Mount it read-only. False unless set. */
  readOnly?: boolean;
  /** Whether mounts below are read-only too: Disabled, IfPossible, or Enabled, which fails where the node cannot do it. Only with readOnly. Disabled unless set. */
  recursiveReadOnly?: string;
  /** Path in the container, unique among its mounts. Must not contain a colon. */
  mountPath?: string;
  /** Path within the volume to mount. Relative, and without any .. in it. The root of the volume unless set. */
  subPath?: string;
  /** Whether mounts made later are passed on. None: not at all; HostToContainer: into the container; Bidirectional: both ways, for privileged containers only. None unless set. */
  mountPropagation?: string;
  /** Like subPath, with $(NAME) replaced by environment variables of the container. Not together with subPath. */
  subPathExpr?: string;
};

/** Where a volume is mounted in a container. */
export type VolumeMountStatus = {
  /** Name of the volume. */
  name?: string;
  /** Path in the container. */
  mountPath?: string;
  /** Whether it is read-only. */
  readOnly?: boolean;
  /** Whether mounts below are read-only too: Disabled or Enabled. */
  recursiveReadOnly?: string;
  /** What was observed of the volume. Needs the feature gate ImageVolumeWithDigest. */
  volumeStatus?: VolumeStatus;
};

/** Which nodes can reach a volume. */
export type VolumeNodeAffinity = {
  /** The nodes must be selected by this. */
  required?: NodeSelector;
};

/** A source of a projected volume. At most one of the fields is given. */
export type VolumeProjection = {
  /** Keys of a secret. */
  secret?: SecretProjection;
  /** Fields of the pod. */
  downwardAPI?: DownwardAPIProjection;
  /** Keys of a config map. */
  configMap?: ConfigMapProjection;
  /** A token of the pod's service account. */
  serviceAccountToken?: ServiceAccountTokenProjection;
  /** Certificates to trust, from ClusterTrustBundle objects. Needs the feature gate ClusterTrustBundleProjection. */
  clusterTrustBundle?: ClusterTrustBundleProjection;
  /** A private key, and a certificate for it that names the pod. Needs the feature gate PodCertificateRequest. */
  podCertificate?: PodCertificateProjection;
};

/** How much storage a claim asks for. */
export type VolumeResourceRequirements = {
  /** The most the volume may have, as storage. No limit unless set. */
  limits?: { [key: string]: string };
  /** The least the volume must have, as storage. Required in a claim. */
  requests?: { [key: string]: string };
};

/** Where the content of a volume comes from. At most one is given; an emptyDir if none is. */
export type VolumeSource = {
  /** A file or directory of the node itself. */
  hostPath?: HostPathVolumeSource;
  /** A directory that begins empty and is deleted with the pod. */
  emptyDir?: EmptyDirVolumeSource;
  /** A disk of Google Compute Engine. Deprecated; use CSI. */
  gcePersistentDisk?: GCEPersistentDiskVolumeSource;
  /** A disk of AWS Elastic Block Store. Deprecated; use CSI. */
  awsElasticBlockStore?: AWSElasticBlockStoreVolumeSource;
  /** A copy of a Git repository. Deprecated; clone into an emptyDir from an init container. */
  gitRepo?: GitRepoVolumeSource;
  /** Keys of a secret, as files. */
  secret?: SecretVolumeSource;
  /** A directory of an NFS server. */
  nfs?: NFSVolumeSource;
  /** A disk reached by iSCSI. */
  iscsi?: ISCSIVolumeSource;
  /** A volume of GlusterFS. No node of this version can mount it. */
  glusterfs?: GlusterfsVolumeSource;
  /** The volume of a claim. */
  persistentVolumeClaim?: PersistentVolumeClaimVolumeSource;
  /** An image of Ceph RBD. No node of this version can mount it. */
  rbd?: RBDVolumeSource;
  /** A volume of a program on the node. Deprecated; use CSI. */
  flexVolume?: FlexVolumeSource;
  /** A volume of OpenStack Cinder. Deprecated; use CSI. */
  cinder?: CinderVolumeSource;
  /** A directory of a Ceph file system. No node of this version can mount it. */
  cephfs?: CephFSVolumeSource;
  /** A volume of Flocker. No node of this version can mount it. */
  flocker?: FlockerVolumeSource;
  /** Fields of the pod, as files. */
  downwardAPI?: DownwardAPIVolumeSource;
  /** A volume of a Fibre Channel network. */
  fc?: FCVolumeSource;
  /** A file share of Azure. Deprecated; use CSI. */
  azureFile?: AzureFileVolumeSource;
  /** Keys of a config map, as files. */
  configMap?: ConfigMapVolumeSource;
  /** A disk of vSphere. Deprecated; use CSI. */
  vsphereVolume?: VsphereVirtualDiskVolumeSource;
  /** A volume of Quobyte. No node of this version can mount it. */
  quobyte?: QuobyteVolumeSource;
  /** A data disk of Azure. Deprecated; use CSI. */
  azureDisk?: AzureDiskVolumeSource;
  /** A disk of Photon. No node of this version can mount it. */
  photonPersistentDisk?: PhotonPersistentDiskVolumeSource;
  /** Files from several sources in one directory. */
  projected?: ProjectedVolumeSource;
  /** A volume of Portworx. Deprecated; use CSI. */
  portworxVolume?: PortworxVolumeSource;
  /** A volume of ScaleIO. No node of this version can mount it. */
  scaleIO?: ScaleIOVolumeSource;
  /** A volume of StorageOS. No node of this version can mount it. */
  storageos?: StorageOSVolumeSource;
  /** A volume that a CSI driver makes for this pod alone. */
  csi?: CSIVolumeSource;
  /** A volume made by a claim that belongs to the pod and is deleted with it. */
  ephemeral?: EphemeralVolumeSource;
  /** The content of an image or other OCI artifact, read-only. Needs the feature gate ImageVolume. */
  image?: ImageVolumeSource;
};

/** A disk of vSphere. Nodes mount it through the CSI driver csi.vsphere.vmware.com. */
export type VsphereVirtualDiskVolumeSource = {
  /** Path of the disk file, with its datastore in brackets. */
  volumePath?: string;
  /** Type of the file system on the volume, such as ext4 or xfs. ext4 unless set. */
  fsType?: string;
  /** Name of the storage policy. Only for volumes made to order. */
  storagePolicyName?: string;
  /** ID of the storage policy. */
  storagePolicyID?: string;
};

/** A preference for a place near some pods, and its weight. */
export type WeightedPodAffinityTerm = {
  /** How strong the preference is, 1 to 100. */
  weight?: number;
  /** The pods, and what counts as near. */
  podAffinityTerm?: PodAffinityTerm;
};

/** Identity of containers on Windows. */
export type WindowsSecurityContextOptions = {
  /** The GMSA credential spec, by its name. The pod's unless set. */
  gmsaCredentialSpecName?: string;
  /** Content of the GMSA credential spec. Filled in from its name by an admission webhook. */
  gmsaCredentialSpec?: string;
  /** User of the first process. That of the image, or the pod's, unless set. */
  runAsUserName?: string;
  /** Run as a process of the node. The same for all containers of the pod, which must use the host network. False unless set. */
  hostProcess?: boolean;
};

/** What to do when a container ends in a certain way. */
export type ContainerRestartRule = {
  /** Restart starts the container again; RestartAllContainers, from 1.35, the whole pod in its place. */
  action?: string;
  /** The exit codes for which the rule is made. */
  exitCodes?: ContainerRestartRuleOnExitCodes;
};

/** Exit codes of a container. */
export type ContainerRestartRuleOnExitCodes = {
  /** In: one of the values; NotIn: any other. */
  operator?: string;
  /** The exit codes. Up to 255. */
  values?: number[];
};

/** A key of a file in a volume. */
export type FileKeySelector = {
  /** The volume, of type emptyDir. */
  volumeName?: string;
  /** The file, from the root of the volume. */
  path?: string;
  /** The key in the file. */
  key?: string;
  /** Go on without the variable if the file or the key does not exist. False unless set. */
  optional?: boolean;
};

/** The claim made for extended resources of a pod. */
export type PodExtendedResourceClaimStatus = {
  /** Which request of the claim is for which resource of which container. */
  requestMappings?: ContainerExtendedResourceRequest[] | null;
  /** Name of the claim, in the namespace of the pod. */
  resourceClaimName?: string;
};

/** Which request of a claim is for an extended resource of a container. */
export type ContainerExtendedResourceRequest = {
  /** The container. */
  containerName?: string;
  /** The extended resource. */
  resourceName?: string;
  /** The request in the claim. */
  requestName?: string;
};

/** The place of a pod in a workload. */
export type WorkloadReference = {
  /** The workload, in the namespace of the pod. */
  name?: string;
  /** The group of the workload. */
  podGroup?: string;
  /** Which of the copies of the group, where there are several. */
  podGroupReplicaKey?: string;
};

/** The group of pods with which a pod is scheduled. */
export type PodSchedulingGroup = {
  /** Name of the pod group, in the namespace of the pod. */
  podGroupName?: string;
};

/** What a claim takes of the node's own resources. */
export type NodeAllocatableResourceClaimStatus = {
  /** The claim. */
  resourceClaimName?: string;
  /** The containers that use the claim. */
  containers?: string[];
  /** What it takes. */
  resources?: { [key: string]: string } | null;
};

/** What was observed of a volume. */
export type VolumeStatus = {
  /** For volumes that are images. */
  image?: ImageVolumeStatus;
};

/** What was observed of a volume that is an image. */
export type ImageVolumeStatus = {
  /** The image with its digest. */
  imageRef?: string;
};

/** The swap space of a node. */
export type NodeSwapStatus = {
  /** Its size in bytes. */
  capacity?: number | bigint;
};
