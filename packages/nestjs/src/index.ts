/** A Holdfast as a NestJS module. */
export {};
