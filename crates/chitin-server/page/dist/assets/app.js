document.title = "Chitin";
