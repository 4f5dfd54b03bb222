/** The end of the names of objects that files configure. With that feature, the API refuses to create objects of such names. */
export const STATIC_SUFFIX = '.static.k8s.io';
