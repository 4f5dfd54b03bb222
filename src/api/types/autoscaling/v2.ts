// Written from src/api/idl/autoscaling/v2.proto by the build. Change that file, not this one.

import type { LabelSelector, ListMeta, ObjectMeta } from '../meta/v1.ts';

/** A resource, such as CPU, that one container of each pod uses. */
export type ContainerResourceMetricSource = {
  /** Name of the resource, such as cpu or memory. */
  name?: string;
  /** The value to aim at. */
  target?: MetricTarget;
  /** Name of the container in the pods. */
  container?: string;
};

/** What one container of each pod was last seen to use of a resource. */
export type ContainerResourceMetricStatus = {
  /** Name of the resource, such as cpu or memory. */
  name?: string;
  /** The value last measured. */
  current?: MetricValueStatus;
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
  /** The metric. */
  metric?: MetricIdentifier;
  /** The value to aim at: Value as a whole, AverageValue divided by the number of pods. */
  target?: MetricTarget;
};

/** What a metric from outside the cluster was last seen to be. */
export type ExternalMetricStatus = {
  /** The metric. */
  metric?: MetricIdentifier;
  /** The value last measured. */
  current?: MetricValueStatus;
};

/** How far the number of replicas may change within a time. */
export type HPAScalingPolicy = {
  /** Pods if value is a number of pods, Percent if it is a percentage of the replicas at the beginning of the time. */
  type?: string;
  /** By how much the number may change. Must be greater than 0. */
  value?: number;
  /** Length of the time in seconds, from 1 to 1800. */
  periodSeconds?: number;
};

/** How fast the number of replicas may change in one direction. */
export type HPAScalingRules = {
  /** Seconds of past recommendations to look at, from 0 to 3600; the most careful one is taken, so that the number does not swing. Up 0, down 300, unless set. */
  stabilizationWindowSeconds?: number;
  /** Which of several policies counts: Max the one that allows the largest change, Min the smallest; Disabled forbids changes in this direction. Max unless set. */
  selectPolicy?: string;
  /** How far the number may change. Unless set, up by 4 pods or 100 percent in 15 seconds, down by 100 percent in 15 seconds. */
  policies?: HPAScalingPolicy[];
  /** How far the measured value may be from the wanted one before the number of pods changes, such as 0.1 for a tenth. That of the controller unless set. Needs the feature gate HPAConfigurableTolerance. */
  tolerance?: string;
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

/** How fast the number of replicas may change. */
export type HorizontalPodAutoscalerBehavior = {
  /** Rules for more replicas. Without delay, and at most by 4 pods or double in 15 seconds, unless set. */
  scaleUp?: HPAScalingRules;
  /** Rules for fewer replicas. After 300 seconds, and then without limit, unless set. */
  scaleDown?: HPAScalingRules;
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
  /** What the number of replicas follows; the highest number that any of them asks for is taken. CPU at 80 percent of what the pods request unless set. */
  metrics?: MetricSpec[];
  /** How fast the number may change. The defaults of its parts unless set. */
  behavior?: HorizontalPodAutoscalerBehavior;
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
  /** What the metrics were last seen to be. */
  currentMetrics?: MetricStatus[] | null;
  /** Aspects of the state, each with since when it holds. */
  conditions?: HorizontalPodAutoscalerCondition[];
};

/** Names a metric. */
export type MetricIdentifier = {
  /** Name of the metric. */
  name?: string;
  /** Labels of the series to take, passed on to the metrics server. All unless set. */
  selector?: LabelSelector;
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

/** The value of a metric to aim at. */
export type MetricTarget = {
  /** Which of the fields counts: Utilization, Value or AverageValue. */
  type?: string;
  /** The value to aim at, as a whole. */
  value?: string;
  /** The value to aim at, on average over the pods. */
  averageValue?: string;
  /** The value to aim at, on average over the pods, in percent of what they request. Only for resources. */
  averageUtilization?: number;
};

/** The value of a metric when last measured. */
export type MetricValueStatus = {
  /** The value as a whole. */
  value?: string;
  /** The value on average over the pods. */
  averageValue?: string;
  /** The value on average over the pods, in percent of what they request. Only for resources. */
  averageUtilization?: number;
};

/** A metric that describes one object. */
export type ObjectMetricSource = {
  /** The object. */
  describedObject?: CrossVersionObjectReference;
  /** The value to aim at: Value as a whole, AverageValue divided by the number of pods. */
  target?: MetricTarget;
  /** The metric. */
  metric?: MetricIdentifier;
};

/** What a metric that describes one object was last seen to be. */
export type ObjectMetricStatus = {
  /** The metric. */
  metric?: MetricIdentifier;
  /** The value last measured. */
  current?: MetricValueStatus;
  /** The object. */
  describedObject?: CrossVersionObjectReference;
};

/** A metric of each pod that is scaled, such as requests per second, taken on average. */
export type PodsMetricSource = {
  /** The metric. */
  metric?: MetricIdentifier;
  /** The value to aim at. Only AverageValue. */
  target?: MetricTarget;
};

/** What a metric of the pods was last seen to be. */
export type PodsMetricStatus = {
  /** The metric. */
  metric?: MetricIdentifier;
  /** The value last measured. */
  current?: MetricValueStatus;
};

/** A resource, such as CPU, that the pods request and use, all containers together. */
export type ResourceMetricSource = {
  /** Name of the resource, such as cpu or memory. */
  name?: string;
  /** The value to aim at: Utilization or AverageValue. */
  target?: MetricTarget;
};

/** What the pods were last seen to use of a resource. */
export type ResourceMetricStatus = {
  /** Name of the resource, such as cpu or memory. */
  name?: string;
  /** The value last measured. */
  current?: MetricValueStatus;
};
