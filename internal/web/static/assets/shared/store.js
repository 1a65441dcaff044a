/** The name of the store, as its operator set it. */
export const storeName = () => document.documentElement.dataset.store;
