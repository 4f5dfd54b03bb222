// Written from src/api/idl/autoscaling/v1.proto by the build. Change that file, not this one.

import type { LabelSelector, ListMeta, ObjectMeta } from '../meta/v1.ts';

/** A resource, such as CPU, that one container of each pod uses. */
export type ContainerResourceMetricSource = {
  /** Name of the resource, such as cpu or memory. */
  name?: string;
  /** The use to aim at, on average over the pods, in percent of what the containers request. */
  targetAverageUtilization?: number;
  /** The use to aim at, on average over the pods, as a quantity. */
  targetAverageValue?: string;
  /** Name of the container in the pods. */
  container?: string;
};

/** What one container of each pod was last seen to use of a resource. */
export type ContainerResourceMetricStatus = {
  /** Name of the resource, such as cpu or memory. */
  name?: string;
  /** The use on average over the pods, in percent of what the containers request. Only if the target is given so. */
  currentAverageUtilization?: number;
  /** The use on average over the pods, as a quantity. */
  currentAverageValue?: string;
  /** Name of the container in the pods. */
  container?: string;
};

/** Points to an object in the same namespace. */
export type CrossVersionObjectReference = {
  /** Kind of the object, such as Deployment. */
  kind?: string;
  /** Name of the object. */
  name?: string;
  /** Group and version of the object, such as apps/v1. */
  apiVersion?: string;
};

/** A metric from outside the cluster, such as the length of a queue. */
export type ExternalMetricSource = {
  /** Name of the metric. */
  metricName?: string;
  /** Labels of the series to take. Values of several series are added up. All unless set. */
  metricSelector?: LabelSelector;
  /** The value to aim at, as a whole. Either this or targetAverageValue is given. */
  targetValue?: string;
  /** The value to aim at, divided by the number of pods. Either this or targetValue is given. */
  targetAverageValue?: string;
};

/** What a metric from outside the cluster was last seen to be. */
export type ExternalMetricStatus = {
  /** Name of the metric. */
  metricName?: string;
  /** Labels of the series that were taken. */
  metricSelector?: LabelSelector;
  /** The value last measured, as a whole. */
  currentValue?: string;
  /** The value last measured, divided by the number of pods. */
  currentAverageValue?: string;
};

/** Changes the number of replicas of another object by what its pods are measured to use. */
export type HorizontalPodAutoscaler = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** What is wanted. */
  spec?: HorizontalPodAutoscalerSpec;
  /** What was last observed. Written by controllers. */
  status?: HorizontalPodAutoscalerStatus;
};

/** One aspect of the state of an autoscaler, and since when it holds: ScalingActive, AbleToScale or ScalingLimited. */
export type HorizontalPodAutoscalerCondition = {
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

/** A list of horizontal pod autoscalers. */
export type HorizontalPodAutoscalerList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The HorizontalPodAutoscalers of this page. */
  items?: HorizontalPodAutoscaler[] | null;
};

/** What is scaled, within which limits, and by what. */
export type HorizontalPodAutoscalerSpec = {
  /** What is scaled: an object with the subresource scale, such as a deployment. */
  scaleTargetRef?: CrossVersionObjectReference;
  /** Never fewer than this. 1 unless set; 0 needs the feature gate HPAScaleToZero and an Object or External metric. */
  minReplicas?: number;
  /** Never more than this. Cannot be lower than minReplicas. */
  maxReplicas?: number;
  /** The CPU use to aim at, on average over the pods, in percent of what they request. 80 unless set. */
  targetCPUUtilizationPercentage?: number;
};

/** What was last observed of an autoscaler. */
export type HorizontalPodAutoscalerStatus = {
  /** The generation of the object that this status is about. Out of date if lower than metadata.generation. */
  observedGeneration?: number | bigint;
  /** When the number of replicas was last changed. */
  lastScaleTime?: string;
  /** How many replicas there were when last looked at. */
  currentReplicas?: number;
  /** How many replicas the autoscaler wanted when it last worked it out. */
  desiredReplicas?: number;
  /** CPU use on average over the pods, in percent of what they request. */
  currentCPUUtilizationPercentage?: number;
};

/** One metric that the number of replicas follows. The field that type names is given, and no other. */
export type MetricSpec = {
  /** Where the metric comes from: Resource, ContainerResource, Pods, Object or External. */
  type?: string;
  /** A metric that describes one object, such as the requests per second of an ingress. */
  object?: ObjectMetricSource;
  /** A metric of each pod, taken on average. */
  pods?: PodsMetricSource;
  /** A resource that the pods request and use, such as CPU. */
  resource?: ResourceMetricSource;
  /** A resource that one container of each pod requests and uses. */
  containerResource?: ContainerResourceMetricSource;
  /** A metric from outside the cluster. */
  external?: ExternalMetricSource;
};

/** What one metric was last seen to be. */
export type MetricStatus = {
  /** Where the metric comes from: Resource, ContainerResource, Pods, Object or External. */
  type?: string;
  /** A metric that describes one object. */
  object?: ObjectMetricStatus;
  /** A metric of each pod, taken on average. */
  pods?: PodsMetricStatus;
  /** A resource that the pods request and use, such as CPU. */
  resource?: ResourceMetricStatus;
  /** A resource that one container of each pod requests and uses. */
  containerResource?: ContainerResourceMetricStatus;
  /** A metric from outside the cluster. */
  external?: ExternalMetricStatus;
};

/** A metric that describes one object. */
export type ObjectMetricSource = {
  /** The object. */
  target?: CrossVersionObjectReference;
  /** Name of the metric. */
  metricName?: string;
  /** The value to aim at, as a whole. */
  targetValue?: string;
  /** Labels of the series to take, passed on to the metrics server. All unless set. */
  selector?: LabelSelector;
  /** The value to aim at, divided by the number of pods. Taken instead of targetValue if set. */
  averageValue?: string;
};

/** What a metric that describes one object was last seen to be. */
export type ObjectMetricStatus = {
  /** The object. */
  target?: CrossVersionObjectReference;
  /** Name of the metric. */
  metricName?: string;
  /** The value last measured, as a whole. */
  currentValue?: string;
  /** Labels of the series that were taken. */
  selector?: LabelSelector;
  /** The value last measured, divided by the number of pods. */
  averageValue?: string;
};

/** A metric of each pod that is scaled, such as requests per second, taken on average. */
export type PodsMetricSource = {
  /** Name of the metric. */
  metricName?: string;
  /** The value to aim at, on average over the pods. */
  targetAverageValue?: string;
  /** Labels of the series to take, passed on to the metrics server. All unless set. */
  selector?: LabelSelector;
};

/** What a metric of the pods was last seen to be. */
export type PodsMetricStatus = {
  /** Name of the metric. */
  metricName?: string;
  /** The value last measured, on average over the pods. */
  currentAverageValue?: string;
  /** Labels of the series that were taken. */
  selector?: LabelSelector;
};

/** A resource, such as CPU, that the pods request and use, all containers together. */
export type ResourceMetricSource = {
  /** Name of the resource, such as cpu or memory. */
  name?: string;
  /** The use to aim at, on average over the pods, in percent of what they request. */
  targetAverageUtilization?: number;
  /** The use to aim at, on average over the pods, as a quantity. */
  targetAverageValue?: string;
};

/** What the pods were last seen to use of a resource. */
export type ResourceMetricStatus = {
  /** Name of the resource, such as cpu or memory. */
  name?: string;
  /** The use on average over the pods, in percent of what they request. Only if the target is given so. */
  currentAverageUtilization?: number;
  /** The use on average over the pods, as a quantity. */
  currentAverageValue?: string;
};

/** How many replicas something has and should have. Served as the subresource scale of other objects. */
export type Scale = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** How many replicas are wanted. */
  spec?: ScaleSpec;
  /** How many replicas there are. Read-only. */
  status?: ScaleStatus;
};

/** How many replicas something should have. */
export type ScaleSpec = {
  /** How many replicas are wanted. 0 unless set. */
  replicas?: number;
};

/** How many replicas something was last seen to have. */
export type ScaleStatus = {
  /** How many replicas there are. */
  replicas?: number;
  /** Labels of the pods, written as in a query, such as app=web,tier in (a,b). Autoscalers find the pods by it. */
  selector?: string;
};
