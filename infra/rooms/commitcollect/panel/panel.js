export const draw = {};
