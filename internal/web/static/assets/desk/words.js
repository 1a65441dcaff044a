// The words that the desk uses for what the API names in its own way.

const names = { available: "Available", pending: "Reserved", sold: "Adopted" };

/** A status as people in a shelter call it. The API and the addresses keep their own values. */
export const statusName = (status) => names[status] ?? status;
